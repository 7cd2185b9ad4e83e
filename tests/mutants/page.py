"""The page of the mutants: outcomes by package and by room, and those that no test notices."""

import collections
import csv
import pathlib
import shlex
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "reports"))

from shares import wilson
from stamp import Stamp

COLUMNS = ["package", "file", "line", "change", "code", "outcome", "tests_reaching", "tests_run"]
COUNTED = ("unviable", "caught", "timeout", "missed")


def read(file):
    with file.open(newline="") as table:
        return list(csv.DictReader(table))


def key(row):
    return row["file"], row["change"], row["code"]


def room(file):
    """`src/core/load/share.rs` is of `load`, `src/address/host.rs` of `address`."""
    folders = pathlib.PurePath(file).parts[1:]
    return folders[len(folders) > 2 and folders[0] in ("core", "study")].removesuffix(".rs")


def line(name, rows, arguments, of_all):
    counts = collections.Counter(row["outcome"] for row in rows)
    noticed, compiled = counts["caught"] + counts["timeout"], len(rows) - counts["unviable"]
    argued = sum(row["outcome"] == "missed" and key(row) in arguments for row in rows)
    cells = [name, f"{of_all:,}" if of_all else "", f"{len(rows):,}", *(f"{counts[word]:,}" for word in COUNTED), f"{argued:,}"]
    if compiled:
        least, most = (100 * end for end in wilson(noticed, compiled))
        cells += [f"{100 * noticed / compiled:.1f} %", f"{least:.1f} to {most:.1f} %"]
    return "| " + " | ".join(cells + [""] * (10 - len(cells))) + " |"


def stamp(folder):
    """What the page is made with: to be noted before the sources change."""
    return Stamp(folder / "RESULTS.md", None, shlex.join(["tests/mutants/run", *sys.argv[1:]]))


def write(folder, made, rows, options, of_package):
    """Writes sample.csv and RESULTS.md."""
    rows = [dict(zip(COLUMNS, row)) for row in rows]
    rows.sort(key=lambda row: (row["file"], int(row["line"]), row["change"]))
    with (folder / "sample.csv").open("w", newline="") as table:
        writer = csv.DictWriter(table, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    arguments = {key(row): row["why"] for row in read(folder / "equivalent.csv")}
    packages, rooms = collections.defaultdict(list), collections.defaultdict(list)
    for row in rows:
        packages[row["package"]].append(row)
        rooms[room(row["file"])].append(row)
    missed = [row for row in rows if row["outcome"] == "missed"]
    switchable, others = (sum(counts) for counts in zip(*of_package.values()))
    head = ["", "mutants", "tried", "do not compile", "caught", "no end", "missed", "of them argued", "noticed", "95 % interval"]
    header = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    text = [
        "# Mutants",
        "",
        made.line,
        "",
        f"Of each package {options.each} mutants were drawn at random (seed {options.seed}) from {switchable:,} of cargo-mutants; {others:,} others,",
        "in constants, constant functions and functions whose result has no name, are not drawn. Noticed: caught, or a test",
        f"does not end, of those that compile. Missed: no unit test and none of tests/commands that reaches the mutant failed, of those that"
        f" {options.patience:.0f} seconds allow.",
        "Argued: missed, and [equivalent.csv](equivalent.csv) says why it changes nothing that is promised.",
        "",
        "## By package",
        "",
        *header,
        *(line(name, packages[name], arguments, of_package.get(name, (0,))[0]) for name in sorted(packages)),
        "",
        "## By room",
        "",
        *header,
        *(line(name, rooms[name], arguments, 0) for name in sorted(rooms)),
    ]
    for title, is_argued in (("Open", False), ("Argued", True)):
        listed = [row for row in missed if (key(row) in arguments) == is_argued]
        text += ["", f"## {title}: {len(listed)}", ""]
        for row in listed:
            change = row["change"].replace("|", "\\|").replace("<", "\\<")
            why = f": {arguments[key(row)]}" if is_argued else "" if int(row["tests_reaching"]) else " (no test reaches it)"
            text.append(f"- {row['file'].removeprefix('src/')}:{row['line']} {change}{why}")
    (folder / "RESULTS.md").write_text("\n".join(text) + "\n")
    made.write(folder / "sample.csv", folder / "equivalent.csv")
