"""Compares the tables of a survey with the count of the files.

`compare.py SITES.toml SURVEY` prints every difference and fails if there is one that is not
explained below, or an explanation without its difference.
"""

import sys
import tomllib
from pathlib import Path

import polars

import count
import urls

# (host, what, where): (counted, surveyed, why). None is missing.
EXPLAINED = {}


def surveyed(tables, host):
    """The same three things as `Count` has, from the tables."""
    def rows(table):
        return polars.read_parquet(tables / table / "*.parquet").filter(polars.col("site") == host)

    levels = rows("levels").to_dicts()
    per_depth = {
        what: {level["depth"]: level[what] for level in levels if level[what]}
        for what in ("requests", "pages")
    }
    links = {urls.identity(urls.parse(link["url"])): link["depth"] for link in rows("links").to_dicts()}
    return {**per_depth, "externals": links}


def differences(host, counted, found):
    for what in ("requests", "pages", "externals"):
        for where in sorted(counted[what].keys() | found[what].keys()):
            pair = counted[what].get(where), found[what].get(where)
            if pair[0] != pair[1]:
                yield (host, what, where), pair


def main():
    with open(sys.argv[1], "rb") as file:
        sites = tomllib.load(file)["site"]
    tables = Path(sys.argv[2]) / "tables"
    unexplained, explained = [], set()
    for site in sites:
        walked = count.Count(site).run()
        counted = {"requests": walked.requests, "pages": walked.pages, "externals": walked.externals}
        found = surveyed(tables, registrable(site["host"]))
        print(
            f"{site['host']}: {sum(walked.requests.values())} requests, pages by depth"
            f" {list(walked.pages.values())}, {len(walked.externals)} external URLs"
        )
        for key, pair in differences(site["host"], counted, found):
            if EXPLAINED.get(key, ())[:2] == pair:
                explained.add(key)
                print(f"  explained: {key} counted {pair[0]}, surveyed {pair[1]}: {EXPLAINED[key][2]}")
            else:
                unexplained.append(key)
                print(f"  DIFFERENT: {key} counted {pair[0]}, surveyed {pair[1]}")
    gone = EXPLAINED.keys() - explained
    for key in sorted(gone, key=str):
        print(f"  explained but no longer there: {key}")
    sys.exit(1 if unexplained or gone else 0)


def registrable(host):
    """The made-up names have no host below the registrable domain but `www`."""
    return host.removeprefix("www.")


main()
