"""Reads a survey's tables again and again while it runs, as a user would who cannot wait.

`watch.py CCSURVEY DIR` runs `CCSURVEY demo DIR` and reads every table with polars and DuckDB until it
has ended. Any file of a table is whole at any moment; a site that is in `sites` has its rows in the
other tables; no row that was there is gone later.
"""

import contextlib
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import polars

# What readers raise when a file is gone that they have listed.
UNREADABLE = (duckdb.Error, polars.exceptions.PolarsError, OSError)
# While files are joined, tables cannot be read for less than this on a busy machine, in seconds.
JOINING = 120

SEGMENTED = ("exchanges", "links", "levels", "sites")


def trees(frame):
    return set(frame.select("site", "seed").unique().iter_rows())


def trees_of(path):
    return set(duckdb.sql(f"SELECT DISTINCT site, seed FROM '{path}'").fetchall())


def look(tables):
    """The site trees of `sites`, once the tables have files; checks that their rows are there."""
    # Sites first: what they promise must be in the other tables when these are read afterwards.
    if not all(list((tables / name).glob("*.parquet")) for name in SEGMENTED):
        return set()
    sites = polars.read_parquet(tables / "sites/*.parquet")
    levels = polars.read_parquet(tables / "levels/*.parquet")
    exchanges = trees_of(tables / "exchanges/*.parquet")
    links = trees_of(tables / "links/*.parquet")
    # Each minute another file takes this one's place, and polars opens what it is given more than once.
    for servers in (tables / "servers").glob("*.parquet"):
        polars.read_parquet(servers.read_bytes())
    assert trees(sites) <= trees(levels), "a site has no levels yet"
    assert trees(sites.filter(polars.col("requests") > 0)) <= exchanges, "a site has no exchanges yet"
    with_links = sites.filter(polars.col("external_urls") > 0)
    assert trees(with_links) <= links, "a site has no links yet"
    return trees(sites)


def main():
    program, survey = sys.argv[1:]
    tables = Path(survey) / "tables"
    running = subprocess.Popen([program, "demo", survey], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    seen, looks, partial, readable = set(), 0, set(), time.monotonic()
    try:
        while running.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                running.wait(0.05)
            try:
                now = look(tables)
            except UNREADABLE:
                # When files are joined, those that a reader has listed go: it reads again.
                if time.monotonic() - readable > JOINING:
                    raise
                continue
            assert seen <= now, f"rows are gone: {seen - now}"
            seen, looks, readable = now, looks + 1, time.monotonic()
            partial.add(len(now))
    finally:
        if running.poll() is None:
            running.kill()
    printed = running.stdout.read().decode(errors="replace")
    assert running.returncode == 0, f"the demo ended with {running.returncode}:\n{printed}"
    final = look(tables)
    assert seen <= final, f"rows are gone: {seen - final}"
    counts = sorted(partial - {0, len(final)})
    assert counts, f"no finished site could be read before the survey ended ({looks} looks)"
    print(f"{looks} looks while it ran; {len(counts)} different counts of sites, then {len(final)}")


main()
