"""Surveys cases with the shipped program, and reads from its tables what it recorded of each."""

import subprocess
import sys
from typing import NamedTuple

import polars
from cases import host_of, number_of
from serving import served

# No pause and no ceiling: server and name server are this script's own, on loopback.
SETTINGS = {
    "cctld": "ke",
    "depth": "0",
    "feed-back": "off",
    "entrances": "1",
    "record-links": "true",
    "min-delay": "0",
    "delay-factor": "0",
    "max-delay": "1ms",
    "harm": "none",
    "rate": "none",
    "sites": "64",
}


class Seen(NamedTuple):
    """What the tables say of the front page of a case."""

    status: int | None
    failure: str | None
    is_read: bool
    links: list
    title: str | None
    charset: str | None
    body_bytes: int
    # The place that the site moved to, if it did: where a redirect led first.
    next_url: str | None


NOTHING = Seen(None, "not requested", False, [], None, None, 0, None)


def command(folder, starts, name_server, web_server):
    settings = SETTINGS | {"dns": name_server, "gateway": web_server}
    return ["survey", folder, "--start", starts, *(f"--{key}={value}" for key, value in settings.items())]


def survey(program, cases, folder):
    """What the program records of each case, in order."""
    starts = folder / "starts.txt"
    starts.write_text("".join(f"http://{host_of(number)}/\n" for number in range(len(cases))))
    with served(cases) as (name_server, web_server, requests):
        words = [program, *command(folder / "survey", starts, name_server, web_server)]
        done = subprocess.run(list(map(str, words)), check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))} ended with {done.returncode}: {done.stdout[-2000:]}")
    unasked = [host_of(number) for number in range(len(cases)) if number not in requests]
    if unasked:
        sys.exit(f"{len(unasked)} front pages were never requested: {' '.join(unasked[:5])} …")
    return seen(folder / "survey", len(cases))


def seen(survey_folder, count):
    found = [NOTHING] * count
    links, nexts = links_of(survey_folder), next_urls(survey_folder)
    for row in first_exchanges(survey_folder).iter_rows(named=True):
        number = number_of(row["host"])
        found[number] = Seen(
            row["status"],
            row["failure"],
            row["internal_links"] is not None,
            links.get(number, []),
            row["title"],
            row["charset"],
            row["body_bytes"],
            nexts.get(number),
        )
    return found


def read(survey_folder, table):
    return polars.read_parquet(survey_folder / "tables" / table / "*.parquet")


def pages_of(survey_folder):
    return read(survey_folder, "exchanges").filter(polars.col("purpose") == "page")


def first_exchanges(survey_folder):
    """The exchange of each front page; the last one where it was tried again."""
    front = polars.concat_str(polars.lit("http://"), "host", polars.lit("/"))
    pages = pages_of(survey_folder).filter(polars.col("url") == front)
    return pages.sort("number", "attempt").unique("host", keep="last", maintain_order=True)


def next_urls(survey_folder):
    """What each site was asked for behind its front page: a redirect's target."""
    front = polars.concat_str(polars.lit("http://"), "site", polars.lit("/"))
    later = pages_of(survey_folder).filter(polars.col("url") != front).sort("number").unique("site", keep="first", maintain_order=True)
    return {number_of(site): url for site, url in later.select("site", "url").iter_rows()}


def links_of(survey_folder):
    """The URLs that each front page links to, in document order, as they would be requested."""
    rows = read(survey_folder, "page_links").sort("page", "position")
    found = {}
    for page, url in rows.select("page", polars.coalesce("spelled", "url")).iter_rows():
        number = number_of(page.removeprefix("http://").removesuffix("/"))
        if number is not None:
            found.setdefault(number, []).append(url)
    return found
