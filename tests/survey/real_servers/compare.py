"""Compares the tables of a survey with the count of the files.

`compare.py SITES.toml SURVEY` prints every difference, and fails if there is one.
"""

import sys
from pathlib import Path

import count
import polars
import tomllib
import urls


def surveyed(tables, host):
    """The same three things as `Count` has, from the tables."""

    def rows(table):
        all_rows = polars.read_parquet(tables / table / "*.parquet")
        return all_rows.filter(polars.col("site") == registrable(host))

    levels = rows("levels").to_dicts()
    per_depth = {what: {level["depth"]: level[what] for level in levels if level[what]} for what in ("requests", "pages")}
    links = {urls.identity(urls.parse(link["url"])): link["depth"] for link in rows("links").to_dicts()}
    return {**per_depth, "externals": links}


def differences(counted, found):
    """By depth for requests and pages, by URL (with its depth) for external URLs; None is missing."""
    for what in ("requests", "pages", "externals"):
        for where in sorted(counted[what].keys() | found[what].keys()):
            pair = counted[what].get(where), found[what].get(where)
            if pair[0] != pair[1]:
                yield what, where, pair


def main():
    with open(sys.argv[1], "rb") as file:
        sites = tomllib.load(file)["site"]
    tables = Path(sys.argv[2]) / "tables"
    with open(Path(sys.argv[2]) / "survey.toml", "rb") as file:
        non_html = set(tomllib.load(file)["non-html-extensions"])
    different = 0
    for site in sites:
        walked = count.Count(site, non_html).run()
        counted = {"requests": walked.requests, "pages": walked.pages, "externals": walked.externals}
        print(
            f"{site['host']}: {sum(walked.requests.values())} requests, pages by depth"
            f" {list(walked.pages.values())}, {len(walked.externals)} external URLs"
        )
        for what, where, (one, other) in differences(counted, surveyed(tables, site["host"])):
            different += 1
            print(f"  DIFFERENT: {what} at {where}: counted {one}, surveyed {other}")
    sys.exit(f"{different} differences" if different else 0)


def registrable(host):
    """The site of a made-up name: none has a host below its registrable domain but `www`."""
    return host.removeprefix("www.")


main()
