#!/usr/bin/env python3
"""Puts the outcomes of a run of cargo-mutants into a table: one line a mutant, sorted by file and place.

    outcomes.py OUTCOMES.json TABLE.csv PREFIX…

Lines of files whose names begin with a PREFIX are replaced, the others stay.
"""

import csv
import json
import pathlib
import sys

COLUMNS = ["file", "line", "change", "outcome"]
TOP = pathlib.Path(__file__).resolve().parent.parent.parent
WORDS = {"CaughtMutant": "caught", "MissedMutant": "missed", "Timeout": "timeout", "Unviable": "unviable"}

outcomes, table, prefixes = sys.argv[1], pathlib.Path(sys.argv[2]), tuple(sys.argv[3:])
rows = []
if table.exists():
    with table.open(newline="") as old:
        # Nor are those of files that are gone.
        rows = [row for row in csv.DictReader(old) if not row["file"].startswith(prefixes) and (TOP / row["file"]).exists()]
# There are none of a file in which nothing can be changed.
found = json.load(open(outcomes))["outcomes"] if pathlib.Path(outcomes).exists() else []
for outcome in found:
    mutant = outcome["scenario"]
    if mutant == "Baseline":
        continue
    mutant = mutant["Mutant"]
    # The name begins with the place: `src/core/load/share.rs:12:5: replace ...`.
    file, line, _, change = mutant["name"].split(":", 3)
    rows.append(dict(zip(COLUMNS, [file, line, change.strip(), WORDS[outcome["summary"]]])))
rows.sort(key=lambda row: (row["file"], int(row["line"]), row["change"]))
table.parent.mkdir(parents=True, exist_ok=True)
with table.open("w", newline="") as new:
    writer = csv.DictWriter(new, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
