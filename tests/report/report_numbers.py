"""Compares the numbers that a report shows with numbers that others compute from the tables.

`report_numbers.py DIR REPORT.html` prints as JSON how many were compared, and which are wrong. What is shown is
compared as it is written; tables are compared by their CSV, too, which is not rounded.
"""

import json
import sys
from pathlib import Path

import curves
import overview
from overview import one, rows
from report_page import Page, decimal, duration, interval, milliseconds, number, of, percent, size, thousands

# A model makes the first, and the others hold no findings; tests of their own look at them.
ELSEWHERE = {"figure-censoring-data", "table-settings", "table-words"}
# A cell that is not compared: it follows from an interval or a model.
ANY = object()
REASONS = (
    "robots.txt",
    "robots.txt could not be fetched",
    "nofollow",
    "filters",
    "query URL rule",
    "depth limit",
    "site budget or stop",
    "trap",
    "mirror",
    "opt-out",
    "too many redirects",
    "low expected yield",
    "server turned the survey away",
)
PHASES = {"DNS": "dns", "connect": "connect", "TLS": "tls", "first byte": "first_byte", "whole response": "whole", "total": "total"}


# Why a share has no interval, as cells say it.
NO_INTERVAL = {"one site)", "few trees)", "one large tree)", "few trees below)", "few trees above)"}


class Comparison:
    def __init__(self, page):
        self.page, self.count, self.wrong, self.seen = page, 0, [], set()

    def same(self, place, shown, expected):
        self.count += 1
        if shown != expected:
            self.wrong.append(f"{place}: {shown}, expected {expected}")

    def near(self, place, raw, expected, error):
        self.count += 1
        if not raw or abs(float(raw) - expected) > error * max(abs(expected), 1e-9):
            self.wrong.append(f"{place}: {raw}, expected {expected}")

    def printed(self, table, row, head, unit):
        """What a row of a table's CSV says under this head, as text shows it; with its interval if it has one.

        For numbers of chance, and percentiles that are nearly exact: that text and table agree.
        """
        heads, *raw = self.page.tables[table][0]
        heads = [name.partition(" [")[0] for name in heads]
        values = [raw[row][heads.index(name)] for name in (head, f"{head}, low", f"{head}, high") if name in heads]
        has_interval = len(values) == 3 and values[1] != ""
        return interval(*map(float, values), unit) if has_interval else number(float(values[0]), unit, "")

    def fact(self, section, name, shown, note=None):
        """A fact, and the numbers in its small print if they are given."""
        found = self.page.facts.get((section, name), ("missing", ""))
        self.seen.add((section, name))
        self.same(f"{section} {name}", found[0], shown)
        if note is not None:
            self.says(f"{section} {name}", found[1], [note])

    def says(self, place, text, numbers):
        """A text has these numbers, in this order and between other characters than digits."""
        rest = f" {text} "
        for wanted in numbers:
            self.count += 1
            before, found, after = rest.partition(wanted)
            if not found or before[-1:].isdigit() or after[:1].isdigit():
                self.wrong.append(f"{place}: no {wanted} in '{rest.strip()}'")
                return
            rest = after

    def lead(self, section, *numbers):
        self.says(f"lead of {section}", self.page.leads.get(section, ""), numbers)

    def table(self, name, expected, error=1e-9):
        """A table has these rows: what is shown, and what its CSV says."""
        self.seen.add(name)
        if name not in self.page.tables:
            self.wrong.append(f"{name}: missing")
            return
        (heads, *raw), shown = self.page.tables[name]
        expected = [list(row) for row in expected]
        self.same(f"rows of {name}", [len(raw), len(shown)], [len(expected)] * 2)
        for place, row in enumerate(zip(raw, shown, expected)):
            self.row(f"{name}, row {place}", heads, *row, error)

    def row(self, place, heads, raw, shown, expected, error):
        column = 0
        self.same(f"cells of {place}", len(shown), len(expected))
        for text, wanted in zip(shown, expected):
            head, _, unit = heads[column].removesuffix("]").partition(" [")
            has_interval = heads[column + 1 : column + 2] == [heads[column].replace(head, f"{head}, low", 1)]
            values, column = raw[column : column + (3 if has_interval else 1)], column + (3 if has_interval else 1)
            self.cell(f"{place}, {head}", unit, values, text, wanted, error)

    def cell(self, place, unit, values, text, wanted, error):
        if wanted is ANY:
            return
        if wanted is None or isinstance(wanted, str):
            self.same(place, (values[0], text), (wanted or "", wanted or "–"))
            return
        if isinstance(wanted, tuple):
            wanted, unit = wanted
        self.near(place, values[0], wanted, error)
        numbers = [float(value or "nan") for value in values]
        if len(numbers) == 3 and values[1:] == ["", ""]:
            # Without an interval; why is in words behind the number.
            shown, _, reason = text.partition(" (")
            self.same(place, (shown, reason in NO_INTERVAL), (number(numbers[0], unit, shown), True))
        elif len(numbers) == 3:
            self.same(place, text, interval(*numbers, unit))
            self.same(f"ends of {place}", numbers[1] <= numbers[0] <= numbers[2], True)
        else:
            self.same(place, text, number(numbers[0], unit, text))


def counted(list_, whole=None, shown=None):
    """Names and counts with their share of all."""
    whole = sum(item["count"] for item in list_) if whole is None else whole
    return [(item["name"], item["count"], item["count"] / whole) for item in list_[:shown]]


def card(compared, found, ledger, manifest):
    totals = found["totals"]
    compared.lead("card", *map(thousands, (totals["sites"], totals["start_urls"], totals["requests"])), duration(totals["lasted_seconds"]))
    for name, value in {
        "Start URLs": "start_urls",
        "Sites": "sites",
        "Site trees": "site_trees",
        "Hosts contacted": "hosts_asked",
        "Pages read": "pages",
        "Attempts that reached no server": "not_asked",
        "Connections": "connections",
    }.items():
        compared.fact("card", name, thousands(totals[value]))
    compared.fact("card", "Requests", thousands(totals["requests"]), thousands(totals["robots_requests"]))
    compared.fact("card", "Bytes sent", size(totals["sent_bytes"]))
    compared.fact("card", "Bytes received", size(totals["received_bytes"]))
    compared.fact("card", "Busy time of servers", duration(totals["busy_ms"] / 1000))
    compared.fact("card", "Duration", duration(totals["lasted_seconds"]))
    first, last = one(f"""SELECT strftime(min(started), '%Y-%m-%d %H:%M UTC'),
        strftime(make_timestamp(max(epoch_us(started) + (total_ms * 1000)::BIGINT)), '%Y-%m-%d %H:%M UTC')
        FROM exchanges WHERE {overview.ASKED}""")
    compared.fact("card", "First request", first)
    compared.fact("card", "Last response", last)
    compared.fact("card", "Servers contacted", thousands(ledger["requests"]["count"]))
    compared.fact("card", "Most requests at one address", thousands(ledger["requests"]["max"]))
    compared.fact("card", "Most requests to one address in a minute", thousands(ledger["most_per_minute"]))
    compared.fact("card", "Shortest pause at an address", milliseconds(ledger["smallest_gap_ms"]))
    compared.fact("card", "Unrecorded exchanges", thousands(manifest["unrecorded_exchanges"]))
    settings = manifest["settings"]
    for name, shown in {
        "Depth": settings["depth"],
        "Entrances of a site": settings["entrances"],
        "Minimum pause at an address": settings["min-delay"],
        "Maximum added delay for other users": settings["harm"],
        "Pause as a multiple of the last response time": settings["delay-factor"],
        "Maximum pause at an address": settings["max-delay"],
        "Parallel requests per address": settings["per-address"],
        "Parallel requests per site": settings["per-site"],
        "Maximum duration of a site tree": settings["max-time"],
        "Maximum requests per site tree": thousands(int(settings["max-requests"])),
        "Maximum bytes per site tree": size(int(settings["max-bytes"])),
        "Maximum bytes per second of the survey": size(int(settings["rate"])),
        "Query URLs fetched per script": settings["queries-per-script"],
    }.items():
        compared.fact("card", name, str(shown))
    for table in overview.TABLES[:-1]:  # The last one is computed from the others.
        compared.fact("method", f"Rows of {table}", thousands(one(f"SELECT count(*) FROM {table}")))


def funnel(compared, found):
    surveyed = found["surveyed"]
    compared.lead("funnel", thousands(found["known"]), thousands(surveyed), of(found["answered"], surveyed), of(found["active"], surveyed))
    stages = {
        "known": "known",
        "surveyed": "surveyed",
        "resolves": "resolved",
        "responds": "answered",
        "front page": "front_page",
        "a page was read": "with_page",
        "active": "active",
    }
    compared.table("figure-funnel-data", [(name, found[key], found[key] / found["known"]) for name, key in stages.items()])
    compared.table("table-no-front-page", counted(found["answered_without_front_page"]))
    compared.says("note of funnel", compared.page.notes["funnel"], [f". Left out: {found['outside']} surveyed site"])


def by_depth(compared, found):
    """Figures 1 and 3 of the paper."""
    levels, last = found["levels"], found["levels"][-1]
    known, units = last["known"], [unit for unit in range(3) if last["load"][unit] > 0]
    compared.lead(
        "depth",
        thousands(found["trees"]),
        str(last["depth"]),
        thousands(last["pages"]),
        thousands(last["requests"]),
        size(last["bytes"]),
        thousands(known["urls"]),
        thousands(known["hosts"]),
    )
    for name, value in {
        "Site trees": found["trees"],
        "Pages": last["pages"],
        "Requests": last["requests"],
        "External URLs": known["urls"],
        "External hosts": known["hosts"],
        "External sites": known["sites"],
        "Server addresses": known["addresses"],
        "Deepest level walked": last["depth"],
    }.items():
        compared.fact("", name, thousands(value))
    compared.fact("", "Load", size(last["bytes"]))
    pages = lambda level: level["pages"] / last["pages"]
    new, before = [], {"requests": 0, "known": {"addresses": 0}}
    for level in levels:
        requests = level["requests"] - before["requests"]
        servers = level["known"]["addresses"] - before["known"]["addresses"]
        new.append((level["depth"], 1000 * servers / requests if requests else None))
        before = level
    load = lambda level: [level["load"][unit] for unit in units]
    for name, row in {
        "figure-depth-shares-data": lambda level: [pages(level), level["union"][0], level["pair"][0]],
        "figure-depth-counts-data": lambda level: [level["pages"], level["known"]["urls"]],
        "figure-depth-kinds-data": lambda level: level["union"],
        "table-levels": lambda level: [
            level["pages"],
            level["requests"],
            level["bytes"],
            level["busy_ms"] / 1000,
            *level["known"].values(),
        ],
        "figure-load-units-data": lambda level: [*load(level), level["union"][0]],
        "figure-load-kinds-data": lambda level: [level["load"][0], *level["union"]],
        "table-load-coverage": lambda level: [*load(level), *level["union"]],
        "table-pair-coverage": lambda level: level["pair"],
    }.items():
        compared.table(name, [(level["depth"], *row(level)) for level in levels])
    compared.table("figure-new-servers-data", new)


def choice(compared, found):
    """By the curve: the least depth that covers enough."""
    levels, last = found["levels"], found["levels"][-1]
    covers = lambda level: level["union"][1] >= 0.95
    chosen = next(filter(covers, levels))
    compared.fact("", "Recommended", f"--depth {chosen['depth']}")
    units = [unit for unit in range(3) if last["load"][unit] > 0]
    verdict = lambda level: "recommended" if level is chosen else "yes" if covers(level) else "no"
    compared.table(
        "table-choice",
        [(level["depth"], *(level["load"][unit] for unit in units), level["union"][1], ANY, ANY, verdict(level)) for level in levels],
    )
    load, urls, hosts = (
        compared.printed("table-load-coverage", levels.index(chosen), head, "share")
        for head in ("load rate, requests", "external URLs", "external hosts")
    )
    compared.lead(
        "choice",
        str(chosen["depth"]),
        "95.0 %",
        *([] if chosen is last else [hosts, percent(1 - chosen["load"][0]), percent(1 - chosen["load"][1]), str(last["depth"])]),
    )
    compared.lead("load-coverage", str(chosen["depth"]), load, urls, hosts)


def groups(compared):
    """By country domain, the largest first."""
    names = [
        name
        for name, _ in rows("""SELECT cctld, count(*) FROM sites WHERE cctld IS NOT NULL GROUP BY 1
        ORDER BY 2 DESC, 1""")
    ]
    lines, table = [], []
    for name in names:
        group = curves.curves(name)
        last = group["levels"][-1]
        lines += [(name, level["depth"], level["load"][0], level["union"][1]) for level in group["levels"]]
        table.append(
            (
                name,
                group["trees"],
                last["depth"],
                last["pages"],
                last["requests"],
                last["bytes"],
                last["known"]["urls"],
                last["known"]["hosts"],
                ANY,
                ANY,
            )
        )
    compared.table("figure-by-cctld-data", lines)
    compared.table("table-by-cctld", table)


def deepest(compared, found):
    levels = found["levels"]
    cut = sum(level["cut"] for level in levels)
    compared.lead(
        "deepest",
        thousands(found["trees"]),
        thousands(cut),
        percent(cut / found["trees"]),
        compared.printed("figure-deeper-data", len(levels) - 1, "deeper trees", "share"),
    )
    compared.table("figure-deepest-data", [(level["depth"], level["ended"], level["cut"]) for level in levels])
    compared.table("figure-deeper-data", [(level["depth"], level["deeper"]) for level in levels])
    compared.says("note of deepest", compared.page.notes["deepest"], [thousands(found["without_page"])])


def not_seen(compared, found, censored):
    row = next(row for row, kind in enumerate(found) if kind["kind"] == "hosts")
    compared.lead(
        "certainty",
        thousands(found[row]["known"]),
        compared.printed("table-unseen", row, "at least", ""),
        thousands(censored["trees"]),
        thousands(censored["unasked"]),
    )
    names = {"urls": "external URLs", "hosts": "external hosts", "sites": "external sites", "addresses": "server addresses"}
    compared.table(
        "table-unseen", [(names[kind["kind"]], kind["known"], kind["once"], kind["twice"], kind["all"], kind["coverage"]) for kind in found]
    )


def sites(compared, found):
    pages, copies, age = found["pages"], found["copies"], found["age"]
    compared.lead(
        "sites",
        thousands(pages["count"]),
        decimal(pages["median"], 0),
        of(found["with_one_page"], pages["count"]),
        percent(found["share_of_largest_hundredth"]),
    )
    for name, shown in {
        "Pages of a site, mean": decimal(pages["mean"], 1),
        "Median": decimal(pages["median"], 1),
        "95th percentile": decimal(pages["p95"], 1),
        "Most": thousands(pages["max"]),
        "Unevenness": decimal(found["unevenness"], 3),
        "Pages of query URLs": percent(found["query_pages"] / found["read_pages"]),
        "Copies inside a site": percent(copies["inside_sites"] / copies["pages"]),
        "Near copies inside a site": percent(copies["nearly_inside_sites"] / copies["pages"]),
    }.items():
        compared.fact("sites", name, shown)
    compared.fact("sites", "Different bodies", thousands(copies["bodies"]), thousands(copies["pages"]))
    compared.fact(
        "sites", "Copies across sites", percent(copies["across_sites"] / copies["pages"]), f"; {thousands(copies['sites_sharing'])} sites"
    )
    compared.table("figure-site-size-data", counted(found["by_size"]))
    compared.table("table-largest-sites", [tuple(site.values()) for site in found["largest"]])
    compared.table(
        "table-country-domains",
        [
            (
                domain["name"],
                domain["sites"],
                domain["with_page"],
                domain["with_page"] / domain["sites"],
                domain["pages"],
                domain["median_pages"],
            )
            for domain in found["by_country_domain"]
        ],
    )
    compared.table("figure-age-data", counted(age["classes"]))
    compared.says(
        "note of sites",
        compared.page.notes["sites"],
        [of(age["dated"], found["read_pages"]), thousands(age["undated"]), thousands(age["future"])],
    )


def links(compared, found):
    matrix, urls = found["matrix"], found["external_urls"]
    generic = matrix["to"].index("generic")
    compared.lead(
        "links",
        *(thousands(found[name]) for name in ("linking_trees", "external_urls", "hosts", "sites")),
        percent(sum(row[generic] for row in matrix["urls"]) / urls),
        of(found["in_survey"], urls),
    )
    compared.table("figure-linked-hosts-data", counted(found["most_linked_hosts"], found["linking_trees"]))
    compared.table("table-linked-sites", counted(found["most_linked_sites"], found["linking_trees"]))
    compared.table("figure-link-matrix-data", [(name, *row) for name, row in zip(matrix["from"], matrix["urls"])])
    compared.table("table-elements", counted(found["elements"]))
    compared.says("note of links", compared.page.notes["links"], [of(found["nofollow"], urls)])


def graph(compared, found):
    share = lambda part, whole: of(part, whole)
    compared.lead("graph", share(found["without_links_in"], found["surveyed"]), share(found["isolated"], found["surveyed"]))
    compared.table("figure-in-degree-data", counted(found["in_degrees"], found["sites"]))
    compared.fact("graph", "Sites known", thousands(found["sites"]), thousands(found["surveyed"]))
    compared.fact("graph", "Pairs of linked sites", thousands(found["edges"]))
    degree = found["in_degree"]
    compared.fact("graph", "Linking sites per site", f"{degree['mean']:.1f}")
    compared.fact(
        "graph",
        "Surveyed sites without links out",
        thousands(found["without_links_out"]),
        share(found["without_links_out"], found["surveyed"]),
    )
    compared.fact("graph", "Groups that links connect", thousands(found["components"]))
    compared.fact("graph", "Largest group", share(found["largest_component"], found["sites"]))
    compared.fact("graph", "Largest group that is connected both ways", share(found["largest_strong_component"], found["sites"]))
    hosts, unlinked = found["hosts"]
    compared.fact("graph", "Hosts that no other site links to", thousands(unlinked), share(unlinked, hosts))
    compared.says("note of graph", compared.page.notes["graph"], [thousands(found["sites"] - found["surveyed"])])


def technology(compared, found):
    share = lambda list_, is_meant: percent(
        sum(item["count"] for item in list_ if is_meant(item["name"])) / sum(item["count"] for item in list_)
    )
    compared.lead(
        "technology",
        share(found["encryption"], lambda name: name.startswith("TLS")),
        share(found["certificates"], lambda name: name == "valid"),
        share(found["compression"], lambda name: name != "not compressed"),
    )
    by_trees = [{"name": item["name"], "count": item["site_trees"]} for item in found["software"]]
    compared.table("figure-software-data", counted(sorted(by_trees, key=lambda item: (-item["count"], item["name"]))))
    compared.table(
        "table-software",
        [
            (
                item["name"],
                item["servers"],
                item["servers"] / found["servers"],
                item["site_trees"],
                item["site_trees"] / found["site_trees"],
            )
            for item in found["software"]
        ],
    )
    for name, key in {
        "http": "http_versions",
        "encryption": "encryption",
        "certificates": "certificates",
        "compression": "compression",
        "languages": "languages",
    }.items():
        compared.table(f"table-{name}", counted(found[key]))
    compared.table(
        "table-charsets", [(pair["declared"], pair["used"], pair["pages"], pair["pages"] / found["pages"]) for pair in found["charsets"]]
    )


def places(compared, name, list_):
    servers, trees = (sum(place[key] for place in list_) for key in ("servers", "site_trees"))
    compared.table(
        name,
        [
            (place["name"], place["servers"], place["servers"] / servers, place["site_trees"], place["site_trees"] / trees)
            for place in list_
        ],
    )


def infrastructure(compared, found):
    hosts, concentration = found["hosts_per_address"], found["network_concentration"]
    judged, offshore = found["judged_trees"], found["offshore_trees"]
    compared.lead("infrastructure", thousands(found["servers"]), thousands(found["hosted_trees"]), of(offshore, judged))
    for name, shown, note in [
        ("Servers", thousands(found["servers"]), thousands(found["located_servers"])),
        ("Hosts per server, mean", decimal(hosts["mean"], 1), None),
        ("Median", decimal(hosts["median"], 1), None),
        ("Most", thousands(hosts["max"]), None),
        (
            "Site trees that share a server with at least ten other sites",
            percent(found["crowded_trees"] / found["hosted_trees"]),
            thousands(found["crowded_servers"]),
        ),
        ("Hosted abroad", percent(offshore / judged), thousands(judged)),
        ("Networks", thousands(concentration["networks"]), None),
        ("Share of the three largest networks", percent(concentration["share_of_top_three"]), None),
        ("Concentration of networks", decimal(concentration["hhi"], 3), None),
    ]:
        compared.fact("infrastructure", name, shown, note)
    compared.table(
        "figure-countries-data",
        counted([{"name": place["name"], "count": place["site_trees"]} for place in found["countries"] if place["site_trees"]]),
    )
    places(compared, "table-countries", found["countries"])
    places(compared, "table-networks", found["networks"])
    foremost = """SELECT country FROM sites WHERE address IS NOT NULL AND cctld = '{0}' AND country <> upper('{0}')
        GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1"""
    compared.table(
        "table-offshore",
        [
            (
                domain["country_domain"],
                domain["judged"],
                domain["offshore"],
                domain["offshore"] / domain["judged"],
                one(foremost.format(domain["country_domain"])),
            )
            for domain in found["by_country_domain"]
        ],
    )


def times(compared, found):
    everything = found["all"] | {"dns": found["dns"]}
    phases = [(name, everything[key]) for name, key in PHASES.items() if everything[key]["count"]]
    by_country = lambda phase: [
        (country["country"], country["phases"][phase]) for country in found["by_country"] if country["phases"][phase]["count"]
    ]
    row = [name for name, _ in phases].index
    begin, half, most = (
        compared.printed("table-times", row(phase), head, "ms")
        for phase, head in (("first byte", "median"), ("whole response", "median"), ("whole response", "95 %"))
    )
    whole, total = (everything[key]["count"] for key in ("whole", "total"))
    compared.lead("times", begin, thousands(whole), half, "95 %", most, thousands(total - whole))
    for name, list_ in {
        "figure-times-data": phases,
        "table-times": phases,
        "figure-times-country-data": by_country("total"),
        "table-first-byte-country": by_country("first_byte"),
    }.items():
        # The program takes percentiles from classes of equal ratio.
        compared.table(
            name,
            [
                (what, of["count"], of["mean"], *(of[p] for p in ("p5", "p25", "median", "p75", "p95", "p99")), of["max"])
                for what, of in list_
            ],
            0.0101,
        )


def outcomes(compared, found):
    trees, failed = (sum(item["count"] for item in found[name]) for name in ("trees", "failures"))
    count = lambda list_, word: next((item["count"] for item in list_ if item["name"] == word), 0)
    compared.lead(
        "outcomes",
        of(count(found["trees"], "complete"), trees),
        thousands(trees),
        *(of(count(found["trees"], word), trees) for word in ("no_page", "unreachable")),
        of(failed, found["exchanges"]),
        thousands(found["exchanges"]),
    )
    compared.table("figure-outcomes-data", counted(found["trees"]))
    compared.table("table-failures", counted(found["failures"]))
    compared.table(
        "table-outcomes",
        [
            (domain["country_domain"], domain["trees"], *(count(domain["outcomes"], outcome["name"]) for outcome in found["trees"]))
            for domain in found["by_country_domain"]
        ],
    )
    answers = sum(status["pages"] + status["robots"] for status in found["statuses"])
    compared.table(
        "table-statuses",
        [
            (str(status["status"]), status["pages"], status["robots"], (status["pages"] + status["robots"]) / answers)
            for status in found["statuses"]
        ],
    )


def ledger(compared, found):
    requests, heads = found["requests"], ("median", "mean", "p95", "max", "sum")
    held, broken = (compared.page.verdicts.count(verdict) for verdict in ("held", "broken"))
    compared.lead(
        "ledger",
        thousands(requests["count"]),
        decimal(requests["median"], 0),
        thousands(requests["max"]),
        str(held + broken),
        str(held),
        str(broken),
    )
    compared.table(
        "table-load",
        [
            (name, unit, *((found[key][head], unit) for head in heads))
            for name, unit, key in (
                ("requests", "requests", "requests"),
                ("bytes, both ways", "bytes", "bytes"),
                ("busy time", "ms", "busy_ms"),
            )
        ],
        1e-5,
    )  # bytes are shown whole
    network = "SELECT 'AS' || asn || coalesce(' ' || as_org, '') FROM servers WHERE address = '{}'"
    at_once = """SELECT max(n) FROM (SELECT (SELECT count(*) FROM turns b WHERE a.address = b.address AND b.s <= a.s
        AND b.e > a.s + 1000) n FROM turns a WHERE address = '{}')"""
    compared.table(
        "table-burdened",
        [
            (
                server["address"],
                server["country"],
                one(network.format(server["address"])),
                *(server[key] for key in ("sites", "requests", "bytes", "busy_ms", "smallest_gap_ms")),
                one(at_once.format(server["address"])),
                server["most_per_minute"],
            )
            for server in found["most_burdened"]
        ],
    )


def kept_back(compared, found):
    whole, robots = found["internal_urls"], found["robots"]
    most = max(found["classes"], key=lambda class_: class_["urls"])
    compared.lead("kept-back", thousands(whole), of(found["fetched"], whole), thousands(most["urls"]))
    compared.table(
        "table-kept-back",
        [(reason, class_["urls"], class_["urls"] / whole, class_["site_trees"]) for reason, class_ in zip(REASONS, found["classes"])]
        + [("requested", found["fetched"], found["fetched"] / whole, None)],
    )
    compared.table(
        "figure-kept-back-data",
        [(depth, level["internal_urls"], level["fetched"], *level["not_fetched"]) for depth, level in enumerate(found["levels"])],
    )
    for name, key in {
        "Attempts to get a robots.txt": "attempts",
        "With rules": "rules",
        "Everything allowed": "allow_all",
        "Everything forbidden": "disallow_all",
        "Redirected": "redirects",
    }.items():
        compared.fact("kept-back", name, thousands(robots[key]))
    forbidden, not_fetched = (class_["urls"] for class_ in found["classes"][:2])
    more = [f"For {thousands(not_fetched)} more"] if not_fetched else []
    compared.says("note of card", compared.page.notes["card"], [of(forbidden, whole), *more])


def main():
    survey, manifest = sys.argv[1], json.loads((Path(sys.argv[1]) / "manifest.json").read_text())
    overview.open_tables(survey)
    curves.prepare()
    compared, load = Comparison(Page(sys.argv[2])), overview.ledger()
    card(compared, overview.card(), load, manifest)
    funnel(compared, overview.funnel())
    found = curves.curves()
    by_depth(compared, found)
    choice(compared, found)
    groups(compared)
    deepest(compared, curves.deepest())
    not_seen(compared, curves.unseen(), curves.censored())
    sites(compared, overview.sites())
    links(compared, overview.links(manifest["settings"]["cctld"]))
    graph(compared, overview.graph())
    technology(compared, overview.technology())
    infrastructure(compared, overview.infrastructure())
    times(compared, overview.times())
    outcomes(compared, overview.outcomes())
    ledger(compared, load)
    kept_back(compared, overview.kept_back())
    left = [name for name in compared.page.tables if name not in compared.seen | ELSEWHERE]
    left += [
        " ".join(name)
        for name, (shown, _) in compared.page.facts.items()
        if name not in compared.seen and name[0] != "method" and shown[:1].isdigit()
    ]
    compared.wrong += [f"{name} is compared with nothing" for name in left]
    print(json.dumps({"compared": compared.count, "wrong": compared.wrong}, ensure_ascii=False))


if __name__ == "__main__":
    main()
