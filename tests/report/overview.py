"""The numbers of a survey's overview, computed by programs that did not write its tables.

`overview.py DIR` prints them as JSON, in the same places as `Overview` has them. DuckDB counts; dates and
unevenness are polars' and Python's own.
"""

import json
import sys
from datetime import timedelta
from pathlib import Path

import duckdb
import polars

TABLES = ("exchanges", "links", "sites", "levels", "servers", "hosts")
ASKED = "total_ms IS NOT NULL"
READ = "charset IS NOT NULL"
FRONT = "purpose = 'page' AND depth = 0 AND status BETWEEN 200 AND 299"
CLASSES = (
    "robots",
    "robots_unreachable",
    "nofollow",
    "filtered",
    "script",
    "depth",
    "limit",
    "trap",
    "mirror",
    "opt_out",
    "redirects",
    "yield",
    "refused",
)
# WHATWG names of the encodings that virtual Webs declare.
CHARSETS = {
    "utf-8": "UTF-8",
    "iso-8859-1": "windows-1252",
    "windows-1252": "windows-1252",
    "windows-1256": "windows-1256",
    "shift_jis": "Shift_JIS",
    "euc-jp": "EUC-JP",
    "iso-2022-jp": "ISO-2022-JP",
    "us-ascii": "windows-1252",
    "utf8": "UTF-8",
    "x-sjis": "Shift_JIS",
    "latin1": "windows-1252",
}


def rows(question):
    return duckdb.sql(question).fetchall()


def one(question):
    (row,) = rows(question)
    return row[0] if len(row) == 1 else row


def counted(question):
    """Name and count, the largest first."""
    return [{"name": name, "count": int(count)} for name, count in rows(f"{question} ORDER BY 2 DESC, 1")]


def spread(values):
    """Of a question for one column."""
    count, total, mean, median, p95, most = one(f"""SELECT count(v), coalesce(sum(v), 0), coalesce(avg(v), 0),
        coalesce(quantile_cont(v, 0.5), 0), coalesce(quantile_cont(v, 0.95), 0), coalesce(max(v), 0)
        FROM (SELECT v::DOUBLE AS v FROM ({values}) t(v))""")
    return {"count": count, "sum": total, "mean": mean, "median": median, "p95": p95, "max": most}


def percentiles(column, where="true"):
    values = f"(SELECT {column} v FROM exchanges WHERE {column} IS NOT NULL AND {where})"
    count, mean, most = one(f"SELECT count(*), coalesce(avg(v), 0), coalesce(max(v), 0) FROM {values}")
    found = {"count": count, "mean": mean, "max": most}
    for name, share in (("p5", 0.05), ("p25", 0.25), ("median", 0.5), ("p75", 0.75), ("p95", 0.95), ("p99", 0.99)):
        found[name] = one(f"SELECT coalesce(quantile_disc(v, {share}), 0) FROM {values}")
    return found


def card():
    totals = dict(
        zip(
            ("start_urls", "site_trees", "sites", "pages"),
            one("""SELECT
        count(*) FILTER (generation = 0), count(*), count(DISTINCT site), sum(pages)::BIGINT FROM sites"""),
        )
    )
    names = ("hosts_asked", "requests", "robots_requests", "sent_bytes", "received_bytes", "busy_ms", "connections", "lasted_seconds")
    totals |= zip(
        names,
        one(f"""SELECT count(DISTINCT host), count(*), count(*) FILTER (purpose = 'robots'),
        sum(sent_bytes)::BIGINT, sum(received_bytes)::BIGINT, sum(total_ms), sum(connections)::BIGINT,
        max(epoch_us(started) / 1e6 + total_ms / 1e3) - min(epoch_us(started)) / 1e6 FROM exchanges WHERE {ASKED}"""),
    )
    totals["not_asked"] = one(f"SELECT count(*) FROM exchanges WHERE NOT ({ASKED})")
    return {"totals": totals}


def funnel():
    duckdb.sql(f"""CREATE OR REPLACE VIEW stages AS SELECT s.site, s.outcome, s.pages, s.inside,
        coalesce(e.resolved, false) resolved, coalesce(e.answered, false) answered, coalesce(e.front, false) front
        FROM (SELECT site, bool_or(cctld IS NOT NULL) inside, sum(pages) pages, arg_min(outcome, seed) outcome
            FROM sites GROUP BY site) s
        LEFT JOIN (SELECT site, bool_or(address IS NOT NULL) resolved, bool_or(status IS NOT NULL) answered,
            coalesce(bool_or({FRONT}), false) front FROM exchanges GROUP BY site) e USING (site)""")
    names = ("surveyed", "resolved", "answered", "front_page", "with_page", "active")
    found = dict(
        zip(
            names,
            one("""SELECT count(*), count(*) FILTER (resolved), count(*) FILTER (answered),
        count(*) FILTER (front), count(*) FILTER (pages >= 1), count(*) FILTER (pages >= 2)
        FROM stages WHERE inside"""),
        )
    )
    linked = one("""SELECT count(DISTINCT target_site) FROM links
        WHERE in_survey AND target_site NOT IN (SELECT site FROM sites)""")
    found["known"] = found["surveyed"] + linked
    found["outside"] = one("SELECT count(*) FROM stages WHERE NOT inside")
    found["answered_without_front_page"] = counted("""SELECT outcome, count(*) FROM stages
        WHERE inside AND answered AND NOT front GROUP BY 1""")
    return found


def unevenness(pages):
    """Half the mean difference of two, by the mean."""
    differences = sum(abs(one - other) for one in pages for other in pages)
    return differences / (2 * len(pages) * sum(pages))


def ages():
    pages = polars.read_parquet(f"{sys.argv[1]}/tables/exchanges/*.parquet")
    pages = pages.filter(polars.col("charset").is_not_null())
    modified = polars.col("last_modified").str.to_datetime("%a, %d %b %Y %H:%M:%S GMT", strict=False, time_zone="UTC")
    age = pages.select(age=polars.col("started").dt.truncate("1s") - modified)["age"].drop_nulls()
    past = age.filter(age >= timedelta(seconds=-60))
    year = timedelta(seconds=31_557_600)
    bounds = [
        ("less than a day", timedelta(days=1)),
        ("less than a week", timedelta(days=7)),
        ("less than 30 days", timedelta(days=30)),
        ("less than a year", year),
        ("less than 2 years", 2 * year),
        ("less than 5 years", 5 * year),
        ("5 years or more", timedelta(days=900_000)),
    ]
    classes, below = [], 0
    for name, bound in bounds:
        younger = len(past.filter(past < bound))
        classes.append({"name": name, "count": younger - below})
        below = younger
    return {"dated": len(past), "undated": len(pages) - len(age), "future": len(age) - len(past), "classes": classes}


def sites():
    per_site = "(SELECT site, min(coalesce(cctld, 'outside')) cctld, sum(pages)::BIGINT pages FROM sites GROUP BY 1)"
    with_page = f"SELECT pages FROM {per_site} WHERE pages > 0"
    pages = [count for (count,) in rows(f"{with_page} ORDER BY 1 DESC")]
    sizes = [
        ("no page", 0, 0),
        ("1 page", 1, 1),
        ("2–9 pages", 2, 9),
        ("10–99 pages", 10, 99),
        ("100–999 pages", 100, 999),
        ("1,000 pages or more", 1000, 10**9),
    ]
    by_size = [
        {"name": name, "count": one(f"SELECT count(*) FROM {per_site} WHERE pages BETWEEN {low} AND {high}")} for name, low, high in sizes
    ]
    domains = rows(f"""SELECT cctld, count(*), count(*) FILTER (pages > 0), sum(pages)::BIGINT,
        coalesce(quantile_cont(pages, 0.5) FILTER (pages > 0), 0) FROM {per_site} GROUP BY 1
        ORDER BY cctld = 'outside', 2 DESC, 1""")
    deepest = dict(rows("SELECT deepest, count(*) FROM sites WHERE pages > 0 AND deepest IS NOT NULL GROUP BY 1"))
    generations = dict(rows("SELECT generation, count(*) FROM sites GROUP BY 1"))
    body = f"(SELECT site, body_hash FROM exchanges WHERE {READ} AND body_hash IS NOT NULL)"
    shared = f"(SELECT body_hash FROM {body} GROUP BY 1 HAVING count(DISTINCT site) > 1)"
    return {
        "pages": spread(with_page),
        "with_one_page": pages.count(1),
        "unevenness": unevenness(pages),
        "share_of_largest_hundredth": sum(pages[: -(-len(pages) // 100)]) / sum(pages),
        "largest": [
            {"site": site, "pages": count, "share": count / sum(pages)}
            for site, count in rows(f"SELECT site, pages FROM {per_site} WHERE pages > 0 ORDER BY 2 DESC, 1 LIMIT 10")
        ],
        "by_size": by_size,
        "by_deepest": [deepest.get(depth, 0) for depth in range(max(deepest) + 1)],
        "by_generation": [generations.get(number, 0) for number in range(max(generations) + 1)],
        "by_country_domain": [dict(zip(("name", "sites", "with_page", "pages", "median_pages"), domain)) for domain in domains],
        "query_pages": one(f"SELECT count(*) FROM exchanges WHERE {READ} AND regexp_matches(url, '[?;]')"),
        "read_pages": one(f"SELECT count(*) FROM exchanges WHERE {READ}"),
        "age": ages(),
        "copies": {
            "pages": one(f"SELECT count(*) FROM {body}"),
            "bodies": one(f"SELECT count(DISTINCT body_hash) FROM {body}"),
            "inside_sites": one(f"""SELECT coalesce(sum(n - 1), 0)::BIGINT FROM
                (SELECT count(*) n FROM {body} GROUP BY site, body_hash)"""),
            "across_sites": one(f"SELECT count(*) FROM {body} WHERE body_hash IN {shared}"),
            "sites_sharing": one(f"SELECT count(DISTINCT site) FROM {body} WHERE body_hash IN {shared}"),
            "nearly_inside_sites": near_duplicates(),
        },
    }


def near_duplicates():
    sites = {}
    for site, body, simhash in rows(f"SELECT site, body_hash, text_simhash FROM exchanges WHERE {READ}"):
        if body and simhash:
            sites.setdefault(site, []).append((body, int(simhash, 16)))
    return sum(
        any(body != other and (simhash ^ beside).bit_count() <= 3 for other, beside in pages)
        for pages in sites.values()
        for body, simhash in pages
    )


def links(country_domains):
    to = (
        "CASE "
        + "".join(f"WHEN host = '{domain}' OR ends_with(host, '.{domain}') THEN '{domain}' " for domain in country_domains)
        + """WHEN regexp_matches(host, '^[0-9.]+$|]$') THEN 'address'
        WHEN regexp_matches(host, '(^|[.])xn--[^.]*$') THEN 'other script'
        WHEN regexp_matches(host, '(^|[.])[^.]{2}$') THEN regexp_extract(host, '([^.]{2})$', 1) ELSE 'generic' END"""
    )
    cells = f"""(SELECT coalesce(s.cctld, 'outside') f, {to} t, count(*) n FROM links l
        JOIN sites s ON (l.site, l.seed) = (s.site, s.seed) GROUP BY ALL)"""
    heads = {side: [name for name, _ in rows(f"SELECT {side}, sum(n) FROM {cells} GROUP BY 1 ORDER BY 2 DESC, 1")] for side in "ft"}
    urls = {(f, t): n for f, t, n in rows(f"SELECT * FROM {cells}")}
    linked = "SELECT {0}, count(DISTINCT (site, seed)) FROM links GROUP BY 1"
    names = ("external_urls", "linking_trees", "hosts", "sites", "in_survey", "nofollow")
    return dict(
        zip(
            names,
            one("""SELECT count(*), count(DISTINCT (site, seed)), count(DISTINCT host),
        count(DISTINCT target_site), count(*) FILTER (in_survey), count(*) FILTER (nofollow) FROM links"""),
        )
    ) | {
        "elements": counted("SELECT element, count(*) FROM links GROUP BY 1"),
        "most_linked_hosts": counted(linked.format("host"))[:20],
        "most_linked_sites": counted(linked.format("target_site"))[:20],
        "matrix": {
            "from": heads["f"],
            "to": heads["t"],
            "urls": [[urls.get((f, t), 0) for t in heads["t"]] for f in heads["f"]],
        },
    }


def reached(neighbours, start):
    """The nodes that can be reached from a node."""
    seen, waiting = {start}, [start]
    while waiting:
        for node in neighbours.get(waiting.pop(), ()):
            if node not in seen:
                seen.add(node)
                waiting.append(node)
    return seen


def graph():
    """The graph of sites, by sets: groups by what can be reached, in both directions for the strong ones."""
    surveyed = {site for (site,) in duckdb.sql("SELECT DISTINCT site FROM sites WHERE cctld IS NOT NULL").fetchall()}
    edges = duckdb.sql(
        """SELECT DISTINCT site, target_site FROM links WHERE in_survey AND site <> target_site
        AND site IN (SELECT site FROM sites WHERE cctld IS NOT NULL)"""
    ).fetchall()
    known = surveyed | {site for (site,) in duckdb.sql("SELECT DISTINCT target_site FROM links WHERE in_survey").fetchall()}
    out, into, both = {}, {}, {}
    for source, target in edges:
        out.setdefault(source, set()).add(target)
        into.setdefault(target, set()).add(source)
        both.setdefault(source, set()).add(target)
        both.setdefault(target, set()).add(source)
    groups = {min(group): len(group) for group in (reached(both, site) for site in known)}
    strong = max(len(reached(out, site) & reached(into, site)) for site in known)
    degrees = [len(into.get(site, ())) for site in known]
    classes = [degree.bit_length() for degree in degrees]
    names = ["0", "1"] + [f"{2 ** (of - 1)}–{2**of - 1}" for of in range(2, max(classes) + 1)]
    values = ", ".join(f"({degree})" for degree in degrees)
    hosts = one("SELECT count(*), count(*) FILTER (linking_sites = 0) FROM hosts")
    return {
        "sites": len(known),
        "surveyed": len(surveyed),
        "edges": len(edges),
        "without_links_in": sum(site not in into for site in surveyed),
        "without_links_out": sum(site not in out for site in surveyed),
        "isolated": sum(site not in both for site in surveyed),
        "components": len(groups),
        "largest_component": max(groups.values()),
        "largest_strong_component": strong,
        "in_degree": spread(f"VALUES {values}"),
        "in_degrees": [{"name": name, "count": classes.count(of)} for of, name in enumerate(names[: max(classes) + 1])],
        "hosts": list(hosts),
    }


def technology():
    family = "coalesce(nullif(trim(regexp_extract(server, '^[^/ (;,]*')), ''), 'not stated')"
    software = rows(f"""SELECT coalesce(a.name, b.name), coalesce(a.n, 0), coalesce(b.n, 0) FROM
        (SELECT {family} AS name, count(*) n FROM servers GROUP BY 1) a FULL JOIN
        (SELECT {family} AS name, count(*) n FROM sites WHERE address IS NOT NULL GROUP BY 1) b ON a.name = b.name
        ORDER BY 2 DESC, 3 DESC, 1""")
    front = f"""(SELECT * FROM exchanges WHERE {FRONT}
        QUALIFY row_number() OVER (PARTITION BY site, seed ORDER BY number) = 1)"""
    charsets = {}
    for content_type, used in rows(f"SELECT coalesce(content_type, ''), charset FROM exchanges WHERE {READ}"):
        label = next(
            (part.split("=", 1)[1].strip(" \"'") for part in content_type.split(";")[1:] if part.strip().lower().startswith("charset=")),
            None,
        )
        declared = "not declared" if label is None else CHARSETS.get(label.lower(), "unknown name")
        charsets[declared, used] = charsets.get((declared, used), 0) + 1
    ordered = sorted(charsets.items(), key=lambda pair: (-pair[1], pair[0]))
    return {
        "software": [dict(zip(("name", "servers", "site_trees"), row)) for row in software],
        "servers": one("SELECT count(*) FROM servers"),
        "site_trees": one("SELECT count(*) FROM sites WHERE address IS NOT NULL"),
        "answers": one("SELECT count(status) FROM exchanges"),
        "front_pages": one(f"SELECT count(*) FROM {front}"),
        "pages": one(f"SELECT count(*) FROM exchanges WHERE {READ}"),
        "http_versions": counted("""SELECT coalesce(http_version, 'not stated'), count(*) FROM exchanges
            WHERE status IS NOT NULL GROUP BY 1"""),
        "encryption": counted(f"SELECT coalesce(tls_version, 'not encrypted'), count(*) FROM {front} GROUP BY 1"),
        "certificates": counted(f"""SELECT coalesce(tls_error, 'valid'), count(*) FROM {front}
            WHERE tls_version IS NOT NULL GROUP BY 1"""),
        "compression": counted(f"""SELECT coalesce(lower(content_encoding), 'not compressed'), count(*)
            FROM exchanges WHERE {READ} GROUP BY 1"""),
        "languages": counted(f"""SELECT coalesce(lower(regexp_extract(language, '^[^-_,]*')), 'not declared'), count(*)
            FROM {front} GROUP BY 1"""),
        "charsets": [{"declared": declared, "used": used, "pages": count} for (declared, used), count in ordered],
    }


def places(column):
    return [
        dict(zip(("name", "servers", "site_trees"), row))
        for row in rows(f"""
        SELECT coalesce(a.name, b.name), coalesce(a.n, 0), coalesce(b.n, 0) FROM
        (SELECT coalesce({column}, 'unknown') AS name, count(*) n FROM servers GROUP BY 1) a FULL JOIN
        (SELECT coalesce({column}, 'unknown') AS name, count(*) n FROM sites WHERE address IS NOT NULL GROUP BY 1) b
        ON a.name = b.name ORDER BY coalesce(a.name, b.name) = 'unknown', 3 DESC, 2 DESC, 1""")
    ]


def infrastructure():
    networks = places("'AS' || asn || coalesce(' ' || as_org, '')")
    known = [place["site_trees"] for place in networks if place["name"] != "unknown" and place["site_trees"]]
    judged = """(SELECT cctld, country, country <> upper(right(cctld, 2)) abroad FROM sites
        WHERE address IS NOT NULL AND cctld IS NOT NULL AND country IS NOT NULL)"""
    crowded = "(SELECT address FROM servers WHERE sites > 10)"
    names = ("servers", "located_servers")
    return dict(zip(names, one("SELECT count(*), count(country) FROM servers"))) | {
        "hosted_trees": one("SELECT count(address) FROM sites"),
        "located_trees": one("SELECT count(country) FROM sites WHERE address IS NOT NULL"),
        "judged_trees": one(f"SELECT count(*) FROM {judged}"),
        "offshore_trees": one(f"SELECT count(*) FROM {judged} WHERE abroad"),
        "countries": places("country"),
        "networks": networks,
        "by_country_domain": [
            dict(zip(("country_domain", "judged", "offshore"), row))
            for row in rows(f"""
            SELECT cctld, count(*), count(*) FILTER (abroad) FROM {judged} GROUP BY 1 ORDER BY 2 DESC, 1""")
        ],
        "hosts_per_address": spread("SELECT hosts FROM servers"),
        "sites_per_address": spread("SELECT sites FROM servers"),
        "crowded_servers": one(f"SELECT count(*) FROM {crowded}"),
        "crowded_trees": one(f"SELECT count(*) FROM sites WHERE address IN {crowded}"),
        "network_concentration": {
            "networks": len(known),
            "site_trees": sum(known),
            "share_of_top_three": sum(known[:3]) / sum(known),
            "hhi": sum((count / sum(known)) ** 2 for count in known),
        },
    }


def times():
    def phases(where):
        whole = percentiles("total_ms", f"{ASKED} AND failure IS NULL AND {where}")
        return {"whole": whole} | {
            name: percentiles(f"{name}_ms", f"{ASKED} AND {where}") for name in ("connect", "tls", "first_byte", "total")
        }

    country = "coalesce((SELECT country FROM servers s WHERE s.address = exchanges.address), 'unknown')"
    countries = rows(f"""SELECT {country} c, count(*) FROM exchanges WHERE {ASKED} GROUP BY 1
        ORDER BY c = 'unknown', 2 DESC, 1""")
    return {
        "dns": percentiles("dns_ms"),
        "all": phases("true"),
        "by_country": [{"country": name, "phases": phases(f"{country} = '{name}'")} for name, _ in countries],
    }


def outcomes():
    return {
        "exchanges": one("SELECT count(*) FROM exchanges"),
        "failures": counted("SELECT failure, count(*) FROM exchanges WHERE failure IS NOT NULL GROUP BY 1"),
        "statuses": [
            dict(zip(("status", "pages", "robots"), row))
            for row in rows("""SELECT status,
            count(*) FILTER (purpose <> 'robots'), count(*) FILTER (purpose = 'robots') FROM exchanges
            WHERE status IS NOT NULL GROUP BY 1 ORDER BY 1""")
        ],
        "trees": counted("SELECT outcome, count(*) FROM sites GROUP BY 1"),
        "by_country_domain": [
            {
                "country_domain": name,
                "trees": count,
                "outcomes": counted(f"""SELECT outcome, count(*) FROM sites
                WHERE coalesce(cctld, 'outside') = '{name}' GROUP BY 1"""),
            }
            for name, count in rows("""SELECT coalesce(cctld, 'outside'), count(*) FROM sites GROUP BY 1
            ORDER BY 2 DESC, 1""")
        ],
        "turned_away": turned_away(),
    }


def turned_away():
    duckdb.sql("""CREATE OR REPLACE VIEW turning AS SELECT site, sum(pages) pages, bool_or(outcome = 'refused') refused,
        site IN (SELECT site FROM exchanges WHERE challenge IS NOT NULL) challenged FROM sites GROUP BY site""")
    names = ("sites", "refused", "challenged")
    return dict(
        zip(
            names,
            one("""SELECT count(*), count(*) FILTER (refused),
        count(*) FILTER (challenged AND pages = 0 AND NOT refused) FROM turning"""),
        )
    ) | {
        "evidence": counted("""SELECT challenge, count(DISTINCT site) FROM exchanges
            WHERE challenge IS NOT NULL GROUP BY 1"""),
    }


def ledger():
    duckdb.sql(f"""CREATE OR REPLACE TABLE turns AS SELECT address, epoch_us(started) AS s,
        epoch_us(started) + round(total_ms * 1000)::BIGINT AS e, sent_bytes + received_bytes AS bytes, total_ms
        FROM exchanges WHERE {ASKED}""")
    gaps = """(SELECT address, (s - max(e) OVER (PARTITION BY address ORDER BY s
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) / 1000.0 AS gap FROM turns)"""
    minutes = """(SELECT address, count(*) OVER (PARTITION BY address ORDER BY s
        RANGE BETWEEN 59999999 PRECEDING AND CURRENT ROW) AS n FROM turns)"""
    per_address = "SELECT {} FROM turns GROUP BY address"
    burdened = rows(f"""SELECT address, country, sites, requests, bytes, busy, gap, n FROM (SELECT address,
        count(*) requests, sum(bytes)::BIGINT bytes, sum(total_ms) busy FROM turns GROUP BY 1)
        LEFT JOIN (SELECT address, greatest(min(gap), 0) gap FROM {gaps} GROUP BY 1) USING (address)
        LEFT JOIN (SELECT address, max(n) n FROM {minutes} GROUP BY 1) USING (address)
        LEFT JOIN (SELECT address, country, sites FROM servers) USING (address)
        ORDER BY busy DESC, requests DESC, address LIMIT 10""")
    names = ("address", "country", "sites", "requests", "bytes", "busy_ms", "smallest_gap_ms", "most_per_minute")
    return {
        "requests": spread(per_address.format("count(*)")),
        "bytes": spread(per_address.format("sum(bytes)")),
        "busy_ms": spread(per_address.format("sum(total_ms)")),
        "smallest_gap_ms": one(f"SELECT min(gap) FROM {gaps}"),
        "most_per_minute": one(f"SELECT max(n) FROM {minutes}"),
        "most_parallel": one("""SELECT max(n) FROM (SELECT (SELECT count(*) FROM turns b WHERE a.address = b.address
            AND b.s <= a.s AND b.e > a.s + 1000) n FROM turns a)"""),
        "most_burdened": [dict(zip(names, row)) for row in burdened],
    }


def kept_back():
    sums = ", ".join(f"sum(not_fetched_{name})::BIGINT" for name in CLASSES)
    whole = one(f"SELECT sum(internal_urls)::BIGINT, sum(fetched)::BIGINT, {sums} FROM levels")
    trees = [one(f"SELECT count(DISTINCT (site, seed)) FROM levels WHERE not_fetched_{name} > 0") for name in CLASSES]
    levels = rows(f"""SELECT sum(internal_urls)::BIGINT, sum(fetched)::BIGINT, [{sums}] FROM levels
        GROUP BY depth ORDER BY depth""")
    robots = "SELECT count(*), count(*) FILTER ({}), count(*) FILTER ({}), count(*) FILTER ({}), count(*) FILTER ({})"
    robots = robots.format(
        "status BETWEEN 200 AND 299",
        "status BETWEEN 400 AND 499 AND status <> 429",
        "status IS NULL OR status = 429 OR status >= 500",
        "status BETWEEN 300 AND 399",
    )
    return {
        "internal_urls": whole[0],
        "fetched": whole[1],
        "classes": [{"name": name, "urls": urls, "site_trees": count} for name, urls, count in zip(CLASSES, whole[2:], trees)],
        "levels": [{"internal_urls": urls, "fetched": fetched, "not_fetched": list(classes)} for urls, fetched, classes in levels],
        "rows_that_do_not_reconcile": one(f"""SELECT count(*) FROM levels WHERE internal_urls <> fetched
            + {" + ".join(f"not_fetched_{name}" for name in CLASSES)}"""),
        "robots": dict(
            zip(
                ("attempts", "rules", "allow_all", "disallow_all", "redirects"),
                one(f"""{robots} FROM (FROM exchanges WHERE purpose = 'robots'
                QUALIFY row_number() OVER (PARTITION BY site, seed, number ORDER BY attempt DESC) = 1)"""),
            )
        ),
    }


def open_tables(survey):
    duckdb.sql("SET TimeZone = 'UTC'")
    for table in TABLES:
        duckdb.sql(f"CREATE VIEW {table} AS FROM '{survey}/tables/{table}/*.parquet'")


def main():
    survey = Path(sys.argv[1])
    settings = json.loads((survey / "manifest.json").read_text())["settings"]
    open_tables(survey)
    print(
        json.dumps(
            {
                "card": card(),
                "funnel": funnel(),
                "sites": sites(),
                "links": links(settings["cctld"]),
                "graph": graph(),
                "technology": technology(),
                "infrastructure": infrastructure(),
                "times": times(),
                "outcomes": outcomes(),
                "ledger": ledger(),
                "kept_back": kept_back(),
            }
        )
    )


if __name__ == "__main__":
    main()
