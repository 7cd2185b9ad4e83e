"""Checks the promises of low load in what the servers themselves have written down.

`logs.py SITES.toml SERVERS SURVEY CONTACT DELAY` reads the access logs in the folder SERVERS and the
exchanges of SURVEY; DELAY is the least pause between exchanges at an address, in milliseconds.
"""

import itertools
import sys
from dataclasses import dataclass
from pathlib import Path

import polars
import tomllib

# nginx writes times in milliseconds, and arrival as a difference of two; Apache and lighttpd in
# microseconds.
ROUNDING = {"nginx": 0.002, "apache2": 0.000_002, "lighttpd": 0.000_002}
# A server stamps the end after its last write: on a busy machine it may lose the processor between
# the two, and we have the answer before it has noted that it gave it. 5 ms were seen at a load of 6
# on two processors.
LATE_STAMP = 0.020
# On a very busy machine a stamp may be later still, here and there. A rule that is broken shows in more than one gap and
# one more of so many, and in the arrivals, which no stamp can falsify.
GAPS_FOR_A_LATER_ONE = 500


@dataclass
class Request:
    server: str
    host: str
    address: str
    begin: float
    end: float
    status: int
    target: str
    agent: str


def read(server, folder):
    for line in (folder / f"{server}.log").read_text().splitlines():
        host, address, first, second, status, _method, target, _version, agent = line.split(" ", 8)
        if server == "nginx":
            end = float(first)
            begin = end - float(second)
        else:
            begin, end = int(first) / 1e6, int(second) / 1e6
        yield Request(server, host, address, begin, end, int(status), target, agent)


def check_pauses(address, requests, delay):
    """Never two at once, no gap shorter than the rule."""
    smallest = float("inf")
    later = []
    for one, next_one in itertools.pairwise(requests):
        rounding = ROUNDING[one.server]
        between_arrivals = next_one.begin - one.begin
        gap = next_one.begin - one.end
        smallest = min(smallest, gap)
        what = f"{address}: {one.target} and {next_one.target}"
        # An answer ends after its request arrived: this one holds however busy the machine is.
        assert between_arrivals >= delay - rounding, f"{what} arrive within {between_arrivals:.6f} s"
        if gap < delay - rounding - LATE_STAMP:
            later.append(f"{what} are only {gap:.6f} s apart")
    assert len(later) <= 1 + len(requests) // GAPS_FOR_A_LATER_ONE, "\n".join(later)
    return smallest


def check_host(host, requests, contact):
    assert requests, f"{host} was never asked"
    assert requests[0].target == "/robots.txt", f"{host} was asked for {requests[0].target} first"
    for request in requests:
        assert contact in request.agent, f"{host} was asked by {request.agent!r}"


def check_table(host, requests, exchanges):
    """What the survey says it asked is what the server was asked, in the same order."""
    told = exchanges.filter(polars.col("host") == host).sort("started")
    # What follows the authority; the scheme ends in the first "//".
    targets = ["/" + url.split("/", 3)[3] for url in told["url"]]
    assert targets == [request.target for request in requests], f"{host}: log and table differ"
    assert told["status"].to_list() == [request.status for request in requests], f"{host}: statuses differ"


def grouped(requests, key):
    ordered = sorted(requests, key=lambda request: (key(request), request.begin))
    return {name: list(group) for name, group in itertools.groupby(ordered, key)}


def main():
    sites_file, folder, survey, contact, delay = sys.argv[1:]
    with open(sites_file, "rb") as file:
        sites = tomllib.load(file)["site"]
    exchanges = polars.read_parquet(Path(survey) / "tables/exchanges/*.parquet")
    requests = [request for server in ROUNDING for request in read(server, Path(folder))]
    for address, there in grouped(requests, lambda request: request.address).items():
        smallest = check_pauses(address, there, int(delay) / 1000)
        print(f"{address}: {len(there)} requests, smallest gap {smallest * 1000:.1f} ms")
    by_host = grouped(requests, lambda request: request.host)
    for site in sites:
        there = by_host.pop(site["host"], [])
        check_host(site["host"], there, contact)
        check_table(site["host"], there, exchanges)
    assert not by_host, f"hosts that are no sites of ours were asked: {list(by_host)}"
    print(f"{len(requests)} requests in the servers' logs, all of them in the table")


main()
