"""Bounds that hold over more than one exchange, judged by the access log of servers whose answers take seconds (slow_servers.toml).

Each bound has a survey of its own with the flags that it needs, killed and resumed as all of reports/low-load/politeness are. A judge
gets the rows of the log, in order of arrival, and says how many times it could have been broken, how often it was, and how near it came.
"""

import collections
import datetime
import http.client
import ipaddress
import pathlib
import re
import ssl
import zoneinfo
from typing import Callable, NamedTuple

HERE = pathlib.Path(__file__).resolve().parent
WORLD, NEIGHBOURS = HERE / "slow_servers.toml", HERE / "slow_neighbours.toml"
# Of the servers of that world, in bytes a second, and the clock of its country.
LINK, ZONE = 2_000_000 / 8, zoneinfo.ZoneInfo("Africa/Nairobi")
# No answer of that world takes longer than the longest pause.
TAKES_SECONDS = {
    "depth": "2",
    "first-byte-timeout": "6s",
    "idle-timeout": "6s",
    "exchange-timeout": "6s",
    "dns-timeout": "2s",
    "max-bytes": "none",
    "max-time": "none",
}
RATE, RATE_SECONDS, LARGEST_BODY = 20_000, 60, 64_000
# What the largest exchange moves beyond its body (`ccsurvey survey --help`, max-bytes).
BEYOND_BODY = 512 * 1024
HARM = 0.02
A_DAY = {"requests": 15, "bytes": 3_000_000}
# Surveys are ended after so many seconds: servers in trouble are waited for, and those whose budget is spent until tomorrow.
ENOUGH, WITHIN_A_DAY = 420, 150


class Verdict(NamedTuple):
    judged: int
    broken: int
    nearest: str
    bound: str


class Bound(NamedTuple):
    """What is promised, the flags of its survey, and who judges it."""

    name: str
    flags: Callable[[], dict]
    judge: Callable[[list, dict], Verdict]
    ends_after: int = ENOUGH
    world: pathlib.Path = WORLD


def arrival(row):
    return int(row["arrival_us"]) / 1e6


def end(row):
    return int(row["end_us"]) / 1e6


def moved(row):
    return int(row["sent_bytes"]) + int(row["received_bytes"])


def by(rows, key):
    groups = collections.defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return groups


def share_of_links(rows, _flags):
    """Of the time from the first request to the last, an answer is on the link of its server for this share."""
    shares = []
    for seen in by(rows, lambda row: row["address"]).values():
        lasted = arrival(seen[-1]) - arrival(seen[0])
        if len(seen) > 10:
            shares.append(sum(int(row["sent_bytes"]) for row in seen[:-1]) / LINK / lasted)
    most = max(shares, default=0)
    return Verdict(len(shares), sum(share > HARM for share in shares), f"{most:.2%} of the link of a server", f"{HARM:.0%}")


def rate_of_the_survey(rows, _flags):
    """Bytes of exchanges that began and ended within a time are no more than the rate and what may be saved up."""
    bound, most, broken = RATE * RATE_SECONDS + max(RATE, LARGEST_BODY + BEYOND_BODY), 0, 0
    for row in rows:
        until = arrival(row) + RATE_SECONDS
        within = sum(moved(other) for other in rows if arrival(other) >= arrival(row) and end(other) <= until)
        most, broken = max(most, within), broken + (within > bound)
    return Verdict(len(rows), broken, f"{most:,} bytes in {RATE_SECONDS} s", f"{bound:,} bytes")


def hours_from_now():
    """Two minutes of quiet that begin within two minutes: hours are told in minutes."""
    begin = datetime.datetime.now(ZONE) + datetime.timedelta(seconds=100)
    times = begin, begin + datetime.timedelta(minutes=2)
    return "-".join(f"{time:%H:%M}" for time in times)


def in_quiet_hours(rows, flags):
    begin, until = flags["quiet-hours"].split("-")
    clock = [f"{datetime.datetime.fromtimestamp(arrival(row), ZONE):%H:%M}" for row in rows]
    within = sum(begin <= time < until if begin < until else time >= begin or time < until for time in clock)
    before, after = sum(time < begin for time in clock), sum(time >= until for time in clock)
    return Verdict(len(rows), within, f"{before} requests before, {after} after", "none within")


def pauses_of_neighbours(rows, _flags):
    """In a neighbourhood with one place the pause after an exchange is that of its server, for all of them."""
    judged = broken = 0
    nearest = None
    for seen in by(rows, lambda row: neighbourhood(row["address"])).values():
        for before, row in zip(seen, seen[1:]):
            if before["address"] != row["address"]:
                gap = arrival(row) - end(before)
                judged, broken = judged + 1, broken + (gap < 0)
                nearest = gap if nearest is None else min(gap, nearest)
    return Verdict(judged, broken, "no neighbours" if nearest is None else f"{nearest * 1000:.1f} ms apart", "no overlap")


def neighbourhood(address):
    ip = ipaddress.ip_address(address)
    return ipaddress.ip_network((ip, 24 if ip.version == 4 else 48), strict=False)


def budget_of_a_day(measure, most):
    def judge(rows, _flags):
        def day(row):
            return row["address"], datetime.datetime.fromtimestamp(arrival(row), datetime.timezone.utc).date()

        sums = [sum(map(measure, seen)) for seen in by(rows, day).values()]
        return Verdict(len(sums), sum(of > most for of in sums), f"{max(sums):,} at a server", f"{most:,} a day")

    return judge


BOUNDS = [
    Bound("`--harm` by default", lambda: {"harm": str(HARM)}, share_of_links),
    Bound("`--rate`", lambda: {"harm": "none", "rate": str(RATE), "max-body": str(LARGEST_BODY)}, rate_of_the_survey),
    Bound("`--quiet-hours`", lambda: {"harm": "none", "quiet-hours": hours_from_now()}, in_quiet_hours),
    Bound("`--per-neighbourhood 1`", lambda: {"harm": "none", "per-neighbourhood": "1"}, pauses_of_neighbours, world=NEIGHBOURS),
    Bound(
        "`--max-server-requests-per-day`",
        lambda: {"harm": "none", "max-server-requests-per-day": str(A_DAY["requests"])},
        budget_of_a_day(lambda _row: 1, A_DAY["requests"]),
        WITHIN_A_DAY,
    ),
    Bound(
        "`--max-server-bytes-per-day`",
        # A request that a kill cut off counts as large as it may have been.
        lambda: {"harm": "none", "max-body": "64000", "max-server-bytes-per-day": str(A_DAY["bytes"])},
        budget_of_a_day(moved, A_DAY["bytes"]),
        WITHIN_A_DAY,
    ),
]


class Rules:
    """The robots.txt of an origin, as its server tells it now (RFC 9309); where there is none to be had, nothing is allowed."""

    def __init__(self, gateway, host, is_https, product="ccsurvey"):
        status, text = self.told(gateway, host, is_https)
        groups, agents, begun = collections.defaultdict(list), [], False
        self.delay, delays = None, {}
        for line in text.splitlines() if status == 200 else []:
            key, _, value = (part.strip() for part in line.partition("#")[0].partition(":"))
            key = key.lower()
            if key == "user-agent":
                agents = [*agents, value.lower()] if not begun else [value.lower()]
                begun = False
            elif key in ("allow", "disallow", "crawl-delay"):
                begun = True
                for agent in agents:
                    if key == "crawl-delay":
                        delays.setdefault(agent, value)
                    elif value:
                        groups[agent].append((key == "allow", value))
                    else:
                        groups[agent]
        mine = product if product in groups or product in delays else "*"
        self.rules = groups[mine]
        if status is None or status >= 500:
            self.rules = [(False, "/")]
        if re.fullmatch(r"[0-9.]+", delays.get(mine, "")):
            self.delay = float(delays[mine])

    @staticmethod
    def told(gateway, host, is_https):
        address, port = gateway.rsplit(":", 1)
        connection = http.client.HTTPConnection(address, int(port), timeout=8)
        try:
            if is_https:
                connection.connect()
                connection.sock = ssl._create_unverified_context().wrap_socket(connection.sock, server_hostname=host)
            connection.request("GET", "/robots.txt", headers={"Host": host, "Connection": "close"})
            answer = connection.getresponse()
            return answer.status, answer.read().decode("utf-8", "replace")
        except (OSError, http.client.HTTPException):
            return None, ""
        finally:
            connection.close()

    def allow(self, path):
        """The longest rule decides, and of equal ones that which allows."""
        fitting = [(len(pattern), allows) for allows, pattern in self.rules if self.fits(pattern, path)]
        return max(fitting, default=(0, True))[1] or path == "/robots.txt"

    @staticmethod
    def fits(pattern, path):
        ends = pattern.endswith("$")
        body = ".*".join(map(re.escape, pattern.removesuffix("$").split("*")))
        return re.match(body + ("$" if ends else ""), path) is not None
