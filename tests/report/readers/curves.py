"""Whether the table `curves` has the figures of the report, of the summary and of `choose-depth`.

`curves.py CCSURVEY DIR` reads the table with DuckDB and polars, and asks CCSURVEY for the rest; DIR is a finished survey.
"""

import json
import subprocess
import sys
from pathlib import Path

import duckdb
import polars

sys.path.insert(0, str(Path(__file__).parent.parent))

from report_page import Page

KINDS = ("urls", "hosts", "sites", "addresses")
LOAD = ("requests", "bytes", "busy")
GROUPINGS = ("software", "cctld", "generation", "country", "network", "pages")


class Curves:
    def __init__(self, program, survey):
        self.program, self.survey, self.compared = program, survey, 0
        path = f"{survey}/tables/curves/*.parquet"
        table = duckdb.sql(f"SELECT * FROM '{path}'")
        self.rows = [dict(zip(table.columns, row)) for row in table.fetchall()]
        assert self.rows == polars.read_parquet(path).to_dicts(), "polars and DuckDB differ"

    def of(self, grouped_by, group):
        """The rows of a group, by depth."""
        rows = [row for row in self.rows if (row["grouped_by"], row["group_name"]) == (grouped_by, group)]
        assert [row["depth"] for row in rows] == list(range(len(rows))) and rows, f"depths of {group}"
        return rows

    def groups(self, grouped_by):
        """Their names, in the order of the table."""
        return list(dict.fromkeys(row["group_name"] for row in self.rows if row["grouped_by"] == grouped_by))

    def ask(self, *arguments):
        asked = subprocess.run([self.program, *arguments], stdout=subprocess.PIPE)
        # 4: no depth can be recommended; what is known is told all the same.
        assert asked.returncode in (0, 4), asked.returncode
        return json.loads(asked.stdout)

    def same(self, what, row, expected):
        for column, value in expected.items():
            found = row[column]
            close = found == value or (isinstance(value, float) and abs(found - value) <= 1e-9 * max(1, abs(value)))
            assert close, f"{what}, depth {row['depth']}: {column} is {found}, expected {value}"
            self.compared += 1


def ends(column, estimate):
    low, high = estimate["low"], estimate["high"]
    # An interval of no width is none, however it is told.
    is_exact = low is None or low >= high
    return {column: estimate["value"], f"{column}_low": None if is_exact else low, f"{column}_high": None if is_exact else high}


def choose_depth(curves):
    """The curves of each group are its own whoever is asked, with the same intervals."""
    kinds = [*(("union", kind) for kind in KINDS), *(("pair", kind) for kind in KINDS[:3])]
    for by in GROUPINGS:
        for reading, kind in kinds:
            advice = curves.ask("choose-depth", curves.survey, "--json", "--by", by, "--of", kind, "--reading", reading)
            assert [group["name"] for group in advice["groups"]] == curves.groups(by), f"{by}: {advice['groups']}"
            answers = [("survey", "all", advice), *((by, group["name"], group) for group in advice["groups"])]
            for grouped_by, group, answer in answers:
                rows, levels = curves.of(grouped_by, group), answer["choice"]["levels"]
                assert len(rows) == len(levels)
                for row, level in zip(rows, levels):
                    expected = {name: level[name] for name in ("depth", "requests", "bytes", "busy_ms")}
                    expected |= ends(f"{reading}_{kind}_coverage", level["coverage"])
                    for unit, load in zip(LOAD, level["load"]):
                        expected |= ends(f"{unit}_share", load)
                    curves.same("choose-depth", row, expected)


def summary(curves):
    """That of a survey that has nothing left to do."""
    told = curves.ask("resume", curves.survey, "--json")
    rows = curves.of("survey", "all")
    sums = {"pages": 0, "requests": 0, "busy_ms": 0.0, "pair_urls": 0, "pair_hosts": 0, "pair_sites": 0}
    for row, level in zip(rows, told["levels"]):
        for column in sums:
            sums[column] += level[column.replace("pair", "external")]
        curves.same("summary", row, sums | {"requests_share": level["load_rate"], "pair_urls_coverage": level["coverage"]})
    last = {"requests": told["requests"], "pages": told["pages"], "bytes": told["sent_bytes"] + told["received_bytes"]}
    curves.same("summary", rows[-1], last)


def report(curves):
    page = Page(f"{curves.survey}/report.html")
    rows = curves.of("survey", "all")
    load = [unit for unit in LOAD if rows[-1][f"{unit}_share"] > 0]
    union = [f"union_{kind}_coverage" for kind in KINDS]
    for name, columns in {
        "table-levels": ["depth", "pages", "requests", "bytes", "busy_ms", *(f"union_{kind}" for kind in KINDS)],
        "table-load-coverage": ["depth", *(f"{unit}_share" for unit in load), *union],
        "table-pair-coverage": ["depth", *(f"pair_{kind}_coverage" for kind in KINDS[:3])],
    }.items():
        (heads, *lines), _ = page.tables[name]
        # Beside a figure with an interval stand its ends.
        figures = [at for at, head in enumerate(heads) if ", low" not in head and ", high" not in head]
        assert len(figures) == len(columns) and len(lines) == len(rows), f"{name}: {heads}"
        for row, line in zip(rows, lines):
            for at, column in zip(figures, columns):
                factor = 1000 if column == "busy_ms" else 1
                curves.same(name, row, {column: float(line[at]) * factor})
                if at + 1 < len(heads) and heads[at + 1].startswith(heads[at].partition(" [")[0] + ", low"):
                    low, high = (float(end) if end else None for end in line[at + 1 : at + 3])
                    curves.same(name, row, ends(column, {"value": row[column], "low": low, "high": high}))


def main():
    curves = Curves(*sys.argv[1:])
    choose_depth(curves)
    summary(curves)
    report(curves)
    groupings = {row["grouped_by"] for row in curves.rows}
    assert groupings == {"survey", "cctld", "generation", "country", "network", "software", "pages"}, groupings
    print(f"{len(curves.rows)} rows; {curves.compared} figures of the report, the summary and choose-depth are theirs")


main()
