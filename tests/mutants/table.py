#!/usr/bin/env python3
"""Counts the outcomes of mutants file by file, and lists those that no test notices with why that is so.

    table.py FOLDER [--every N] ROOM …

Reads mutants.csv (of a sample: sample.csv) and equivalent.csv of the folder and writes RESULTS.md beside them. A line of equivalent.csv says of a mutant
that is missed (its file, line and change, as in mutants.csv) why no test can or need notice it. The rooms are those that
were tried now; in mutants.csv the lines of the others are of earlier runs.
"""

import collections
import csv
import pathlib
import shlex
import sys

sys.dont_write_bytecode = True  # No compiled scripts in the source tree.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "reports"))

from stamp import Stamp

FOLDER = pathlib.Path(sys.argv[1])
OUTCOMES = ("unviable", "caught", "timeout", "missed")


def rows(name):
    with (FOLDER / name).open(newline="") as table:
        return list(csv.DictReader(table))


def key(row):
    return row["file"], row["line"], row["change"]


is_sample = sys.argv[2:3] == ["--every"]
mutants = rows("sample.csv" if is_sample else "mutants.csv")
arguments = {key(row): row["why"] for row in rows("equivalent.csv")}
missed = [row for row in mutants if row["outcome"] == "missed"]
# A sample says nothing of mutants that are not in it.
judged = {key(row) for row in mutants} if is_sample else set(arguments)
for row in (set(arguments) & judged) - {key(row) for row in missed}:
    print(f"tests/mutants: {':'.join(row)} stands in equivalent.csv and is not missed", file=sys.stderr)
files = collections.defaultdict(collections.Counter)
for row in mutants:
    of_file = files[row["file"]]
    of_file[row["outcome"]] += 1
    of_file["argued"] += row["outcome"] == "missed" and key(row) in arguments


def line(name, of_file):
    tried = sum(of_file[outcome] for outcome in OUTCOMES)
    noticed, viable = of_file["caught"] + of_file["timeout"], tried - of_file["unviable"]
    share = f"{100 * noticed / viable:.1f} %" if viable else ""
    open_ones = of_file["missed"] - of_file["argued"]
    counts = [tried, *(of_file[outcome] for outcome in OUTCOMES[:3]), share, of_file["argued"], open_ones]
    return f"| {name} | " + " | ".join(f"{count:,}" if isinstance(count, int) else count for count in counts) + " |"


rooms = collections.defaultdict(collections.Counter)
for file, of_file in files.items():
    folders = file.split("/")[1:]
    rooms[folders[folders[0] in ("core", "study")]].update(of_file)
    rooms["all"].update(of_file)
total = rooms.pop("all")
head = ["tried", "do not compile", "caught", "no end", "noticed", "argued", "open"]
header = ["| | " + " | ".join(head) + " |", "|---|" + "---:|" * len(head)]
made = Stamp(FOLDER / "RESULTS.md", None, shlex.join(["tests/mutants/run", *sys.argv[2:]]))
sampled = f"Of the rooms every {sys.argv[3]}th mutant was tried. " if is_sample else ""
text = [
    "# Mutants",
    "",
    made.line,
    "",
    sampled
    + f"Written from {'sample' if is_sample else 'mutants'}.csv and equivalent.csv. Noticed: caught, or a test that does not end, of those that compile.",
    "Argued: no test notices it, and equivalent.csv says why. Open: no test notices it.",
    "",
    "## By room",
    "",
    *header,
]
text += [line(name, rooms[name]) for name in sorted(rooms)] + [line("**all**", total)]
text += ["", "## By file", "", *header, *(line(name.removeprefix("src/"), files[name]) for name in sorted(files))]
for title, wanted in (("Open", False), ("Argued", True)):
    listed = [row for row in missed if (key(row) in arguments) == wanted]
    text += ["", f"## {title}: {len(listed)}", ""]
    text += [
        f"- {row['file'].removeprefix('src/')}:{row['line']} {row['change'].replace('|', chr(92) + '|')}"
        + (f": {arguments[key(row)]}" if wanted else "")
        for row in listed
    ]
(FOLDER / "RESULTS.md").write_text("\n".join(text) + "\n")
made.write(FOLDER / ("sample.csv" if is_sample else "mutants.csv"))
