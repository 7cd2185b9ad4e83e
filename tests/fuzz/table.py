#!/usr/bin/env python3
"""Writes reports/fuzz/RESULTS.md from the table beside it: what fuzzing took, reached and found.

table.py COMMAND [MACHINE]     the command that made the latest lines of the table, and where, if not here
"""

from __future__ import annotations

import csv
import pathlib
import sys

sys.dont_write_bytecode = True  # No compiled scripts in the source tree.
REPORTS = pathlib.Path(__file__).resolve().parent.parent.parent / "reports"
sys.path.insert(0, str(REPORTS))

from stamp import Stamp

FOLDER = REPORTS / "fuzz"
COLUMNS = {
    "target": "target",
    "inputs": "inputs",
    "longest_bytes": "longest, bytes",
    "inputs_per_second": "inputs a second",
    "edges": "edges reached",
    "peak_mib": "peak MiB",
    "findings": "findings",
    "date": "date",
    "revision": "revision",
}


def shown(row: dict[str, str], column: str) -> str:
    return f"{int(row[column]):,}" if row[column].isdigit() and column != "revision" else row[column]


def page(rows: list[dict[str, str]], line: str) -> str:
    latest = {row["target"]: row for row in rows}
    earlier = [row for row in rows if row is not latest[row["target"]]]
    table = ["| " + " | ".join(COLUMNS.values()) + " |", "|---|" + "---:|" * (len(COLUMNS) - 1)]
    as_lines = lambda some: [*table, *("| " + " | ".join(shown(row, column) for column in COLUMNS) + " |" for row in some)]
    return "\n".join(
        [
            "# Fuzzing what reads strangers' bytes",
            "",
            line,
            "",
            "Nothing on this page is written by hand. The latest run of each target of `tests/fuzz`, guided by coverage; a finding is an input that breaks a",
            "property of the code, or that takes too long. `tests/run` ends with a short run of each.",
            "",
            *as_lines(latest.values()),
            "",
            *(["Earlier:", "", *as_lines(earlier), ""] if earlier else []),
        ]
    )


def main() -> None:
    with (FOLDER / "results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    made = Stamp(FOLDER / "RESULTS.md", None, sys.argv[1], rows[-1]["date"], sys.argv[2] if sys.argv[2:] else None)
    if {row["revision"] for row in {row["target"]: row for row in rows}.values()} != {made.revision}:
        # Not all targets have run with the code of today: the page is one of other days until they have.
        made.figure, made.revision = {}, rows[-1]["revision"]
    made.page.write_text(page(rows, made.line))
    made.write(FOLDER / "results.csv")


main()
