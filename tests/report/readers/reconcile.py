"""Whether the sums of a survey's tables agree, computed by two programs that did not write them.

`reconcile.py DIR` asks DuckDB for what does not reconcile: each question below must have no answer.
polars then counts the totals a second time.
"""

import sys
from pathlib import Path

import duckdb
import polars

TABLES = ("exchanges", "links", "sites", "levels", "curves", "servers")

# An exchange that reached no server took no time of any.
ASKED = "total_ms IS NOT NULL"
IS_PAGE = """purpose = 'page' AND status BETWEEN 200 AND 299 AND (content_type IS NULL
    OR regexp_matches(lower(content_type), '^\\s*(text/html|application/xhtml\\+xml)?\\s*([;,]|$)'))"""

QUESTIONS = {
    "requests of a site are those of its levels and for robots.txt, and are its exchanges": f"""
        SELECT site, seed, s.requests, l.requests, s.robots_requests, e.requests FROM sites s
        LEFT JOIN (SELECT site, seed, sum(requests) requests FROM levels GROUP BY ALL) l USING (site, seed)
        LEFT JOIN (SELECT site, seed, count(*) requests FROM exchanges WHERE {ASKED} GROUP BY ALL) e
            USING (site, seed)
        WHERE s.requests <> coalesce(l.requests, 0) + s.robots_requests + s.probe_requests
            OR s.requests <> coalesce(e.requests, 0)""",
    "requests and pages of a level are its exchanges": f"""
        SELECT site, seed, depth, l.requests, e.requests, l.pages, e.pages FROM levels l
        LEFT JOIN (SELECT site, seed, depth, count(*) FILTER ({ASKED}) requests,
            count(*) FILTER ({IS_PAGE}) pages FROM exchanges WHERE depth IS NOT NULL GROUP BY ALL) e
            USING (site, seed, depth)
        WHERE l.requests <> coalesce(e.requests, 0) OR l.pages <> coalesce(e.pages, 0)""",
    "exchanges belong to a level of a site": """
        SELECT e.site, e.seed, e.depth FROM exchanges e
        LEFT JOIN levels l ON (e.site, e.seed, e.depth) = (l.site, l.seed, l.depth)
        WHERE e.depth IS NOT NULL AND l.site IS NULL""",
    "internal URLs are fetched or not for one reason": """
        SELECT site, seed, depth, internal_urls FROM levels
        WHERE internal_urls <> fetched + not_fetched_robots + not_fetched_robots_unreachable
            + not_fetched_nofollow + not_fetched_filtered + not_fetched_script + not_fetched_depth
            + not_fetched_limit + not_fetched_trap + not_fetched_mirror + not_fetched_opt_out
            + not_fetched_redirects + coalesce(not_fetched_refused, 0)""",
    "external URLs of a level are its links": """
        SELECT site, seed, depth, v.external_urls, k.urls FROM levels v
        FULL JOIN (SELECT site, seed, depth, count(*) urls FROM links GROUP BY ALL) k
            USING (site, seed, depth)
        WHERE coalesce(v.external_urls, 0) <> coalesce(k.urls, 0)""",
    "external URLs, hosts and sites of a site are those of its links": """
        SELECT site, seed, s.external_urls, k.* FROM sites s
        LEFT JOIN (SELECT site, seed, count(*) urls, count(DISTINCT host) hosts,
            count(DISTINCT target_site) sites FROM links GROUP BY ALL) k USING (site, seed)
        WHERE s.external_urls <> coalesce(k.urls, 0) OR s.external_hosts <> coalesce(k.hosts, 0)
            OR s.external_sites <> coalesce(k.sites, 0)""",
    "external URLs are not of the site itself, and stand in a tree once": """
        SELECT site, seed, url FROM links GROUP BY ALL HAVING count(*) > 1
        UNION ALL SELECT site, seed, url FROM links WHERE target_site = site""",
    "other sums of a site are those of its levels": """
        SELECT site, seed FROM sites s JOIN (SELECT site, seed, sum(pages) pages,
            sum(external_hosts) hosts, sum(external_sites) sites, sum(internal_urls) internal,
            max(depth) FILTER (fetched > 0) deepest FROM levels GROUP BY ALL) l USING (site, seed)
        WHERE s.pages <> l.pages OR s.external_hosts <> l.hosts OR s.external_sites <> l.sites
            OR s.internal_urls <> l.internal OR s.deepest IS DISTINCT FROM l.deepest""",
    "bytes and busy time of a site are those of its exchanges": """
        SELECT site, seed FROM sites s JOIN (SELECT site, seed, sum(received_bytes) received,
            sum(sent_bytes) sent, coalesce(sum(total_ms), 0) busy FROM exchanges GROUP BY ALL) e
            USING (site, seed)
        WHERE s.received_bytes <> e.received OR s.sent_bytes <> e.sent OR abs(s.busy_ms - e.busy) > 0.01""",
    "a server's load is that of the exchanges at its address": f"""
        SELECT address, v.requests, e.requests, v.busy_ms, e.busy FROM servers v
        FULL JOIN (SELECT address, count(*) requests, sum(received_bytes) received, sum(sent_bytes) sent,
            sum(total_ms) busy, count(DISTINCT host) hosts, count(DISTINCT site) sites,
            count(status) answers FROM exchanges WHERE {ASKED} GROUP BY ALL) e USING (address)
        WHERE (v.address IS NOT NULL OR e.answers > 0)
            AND (v.requests IS DISTINCT FROM e.requests OR v.received_bytes IS DISTINCT FROM e.received
            OR v.sent_bytes IS DISTINCT FROM e.sent OR v.hosts IS DISTINCT FROM e.hosts
            OR v.sites IS DISTINCT FROM e.sites OR abs(v.busy_ms - e.busy) > 0.01)""",
    "the curves of all groups end in the sums of their sites": """
        SELECT grouped_by, c.*, s.* FROM (SELECT grouped_by, sum(trees) trees, sum(requests) requests,
            sum(bytes) bytes, sum(pages) pages, sum(pair_urls) urls, sum(busy_ms) busy
            FROM (FROM curves QUALIFY depth = max(depth) OVER (PARTITION BY grouped_by, group_name)) GROUP BY 1) c,
            (SELECT count(*) trees, sum(requests) requests, sum(sent_bytes + received_bytes) bytes,
            sum(pages) pages, sum(external_urls) urls, sum(busy_ms) busy FROM sites) s
        WHERE (c.trees, c.requests, c.bytes, c.pages, c.urls)
            <> (s.trees, s.requests, s.bytes, s.pages, s.urls) OR abs(c.busy - s.busy) > 0.01""",
    "what is known of the whole survey is what its links lead to": """
        SELECT c.union_urls, k.urls, c.union_hosts, k.hosts FROM curves c,
            (SELECT count(DISTINCT url) urls, count(DISTINCT host) hosts FROM links) k
        WHERE grouped_by = 'survey' AND depth = (SELECT max(depth) FROM curves)
            AND (c.union_urls <> k.urls OR c.union_hosts <> k.hosts)""",
    # Starts are told to the microsecond by the clock of the day, ends by adding what a steady clock
    # has measured: the two may drift by some tenths of a millisecond.
    "a server's smallest gap is that between its exchanges, and they never overlap": f"""
        SELECT address, smallest_gap_ms, gap FROM servers LEFT JOIN (
            SELECT address, min(gap) gap FROM (SELECT address, epoch_us(started) / 1000.0
                - lag(epoch_us(started) / 1000.0 + total_ms) OVER (PARTITION BY address ORDER BY started) gap
                FROM exchanges WHERE {ASKED}) GROUP BY ALL) USING (address)
        WHERE gap < 0 OR most_parallel <> 1 OR abs(smallest_gap_ms - gap) > 1""",
}


def main():
    tables = Path(sys.argv[1]) / "tables"
    for table in TABLES:
        duckdb.sql(f"CREATE VIEW {table} AS FROM '{tables}/{table}/*.parquet'")
    for what, question in QUESTIONS.items():
        answers = duckdb.sql(question).fetchall()
        assert not answers, f"not so: {what}: {len(answers)} times, first {answers[:3]}"
    for table in TABLES:
        frame = polars.read_parquet(tables / table / "*.parquet")
        numbers = [name for name, kind in frame.schema.items() if kind in (polars.UInt32, polars.UInt64)]
        sums = ", ".join(f'sum("{name}")::BIGINT' for name in numbers)
        summed = duckdb.sql(f"SELECT count(*), {sums} FROM {table}").fetchall()[0]
        again = (frame.height, *(frame[name].cast(polars.Int64).sum() for name in numbers))
        # An empty sum is null to one and zero to the other.
        assert [n or 0 for n in summed] == list(again), f"{table}: {summed} and {again}"
        print(f"{table}: {frame.height} rows, the same sums in both programs")
    print(f"{len(QUESTIONS)} questions, nothing that does not reconcile")


main()
