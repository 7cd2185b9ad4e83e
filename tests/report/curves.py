"""The curves of a survey, computed from its exchanges and links by DuckDB: what levels 0 to d cost and brought.

Nothing here reads the table `levels`, from which the program draws its curves.
"""

from overview import ASKED, READ, one, rows

KINDS = {"urls": "url", "hosts": "host", "sites": "target_site", "addresses": "address"}
# Outcomes of trees whose end was not seen.
CUT = "('depth', 'request_budget', 'byte_budget', 'time_budget', 'stable', 'trap', 'opt_out', 'interrupted', 'unreachable', 'refused')"
CREATE = (
    # A robots.txt belongs to the level whose page was asked for next, or last where none came.
    f"""CREATE OR REPLACE TABLE costs AS SELECT site, seed, sent_bytes + received_bytes AS bytes, total_ms, coalesce(depth,
        lead(depth IGNORE NULLS) OVER tree, lag(depth IGNORE NULLS) OVER tree, 0) AS level
        FROM exchanges WHERE {ASKED} AND address IS NOT NULL WINDOW tree AS (PARTITION BY site, seed ORDER BY number)""",
    f"""CREATE OR REPLACE TABLE found AS SELECT l.*, s.cctld, a.address FROM links l
        JOIN sites s ON (l.site, l.seed) = (s.site, s.seed)
        LEFT JOIN (SELECT host, min(address) address FROM exchanges WHERE {ASKED} GROUP BY 1) a ON a.host = l.host""",
)


def prepare():
    for question in CREATE:
        rows(question)


def cumulative(question, depths):
    """Of rows of level and numbers: sums to each depth."""
    levels = {level: numbers for level, *numbers in rows(question)}
    width = len(next(iter(levels.values()), [0]))
    sums = [[0] * width]
    for depth in range(depths):
        sums.append([above + here for above, here in zip(sums[-1], levels.get(depth, [0] * width))])
    return sums[1:]


def curves(cctld=None):
    """Of all site trees, or of those of a country domain."""
    inside = "true" if cctld is None else f"(site, seed) IN (SELECT (site, seed) FROM sites WHERE cctld = '{cctld}')"
    depths = one(f"SELECT max(deepest) + 1 FROM sites WHERE {inside}")
    cost = cumulative(
        f"""SELECT level, count(*), sum(bytes)::BIGINT, sum(total_ms) FROM costs WHERE {inside}
        GROUP BY 1""",
        depths,
    )
    pages = cumulative(f"SELECT depth, count(*) FROM exchanges WHERE {READ} AND {inside} GROUP BY 1", depths)
    least = "SELECT least, count(*) FROM (SELECT min(depth) least FROM found WHERE {1} IS NOT NULL AND {2} GROUP BY {0}) GROUP BY 1"
    known = {kind: cumulative(least.format(column, column, inside), depths) for kind, column in KINDS.items()}
    pairs = {kind: cumulative(least.format(f"site, seed, {column}", column, inside), depths) for kind, column in list(KINDS.items())[:3]}
    levels = []
    for depth in range(depths):
        level = {"depth": depth, "pages": pages[depth][0]}
        level |= zip(("requests", "bytes", "busy_ms"), cost[depth])
        level["known"] = {kind: sums[depth][0] for kind, sums in known.items()}
        level["load"] = [share(here, last) for here, last in zip(cost[depth], cost[-1])]
        level["pair"] = [share(sums[depth][0], sums[-1][0]) for sums in pairs.values()]
        level["union"] = [share(sums[depth][0], sums[-1][0]) for sums in known.values()]
        levels.append(level)
    return {"trees": one(f"SELECT count(*) FROM sites WHERE {inside}"), "levels": levels}


def share(part, whole):
    return part / whole if whole else 0.0


def deepest():
    """Trees with a page by deepest level, and the share that is deeper: every step leaves out who ended there."""
    counts = rows(f"""SELECT deepest, count(*) FILTER (outcome NOT IN {CUT}), count(*) FILTER (outcome IN {CUT})
        FROM sites WHERE pages > 0 GROUP BY 1 ORDER BY 1""")
    trees = at_risk = sum(ended + cut for _, ended, cut in counts)
    counts, levels, deeper = {depth: (ended, cut) for depth, ended, cut in counts}, [], 1.0
    for depth in range(max(counts) + 1):
        ended, cut = counts.get(depth, (0, 0))
        deeper *= (at_risk - ended) / at_risk
        at_risk -= ended + cut
        levels.append({"depth": depth, "ended": ended, "cut": cut, "deeper": deeper})
    return {"trees": trees, "without_page": one("SELECT count(*) FROM sites WHERE pages = 0"), "levels": levels}


def unseen():
    """Chao2 and the sample coverage, site trees being the samples."""
    trees, found = one("SELECT count(*) FROM sites"), []
    for kind, column in KINDS.items():
        known, once, twice, all_links = one(f"""SELECT count(*), count(*) FILTER (n = 1), count(*) FILTER (n = 2),
            coalesce(sum(n), 0)::BIGINT FROM (SELECT count(DISTINCT (site, seed)) n FROM found
            WHERE {column} IS NOT NULL GROUP BY {column})""")
        if known == 0:
            continue
        less = (trees - 1) / trees
        more = once**2 / (2 * twice) if twice else once * (once - 1) / 2
        weight = (trees - 1) * (once if twice else max(once - 1, 0))
        coverage = 1 - once / all_links * weight / (weight + 2 * max(twice, 1))
        found.append({"kind": kind, "known": known, "once": once, "twice": twice, "all": known + less * more, "coverage": coverage})
    return found


def censored():
    """Trees that were cut, and URLs that limits left unasked."""
    limits = " + ".join(f"not_fetched_{limit}" for limit in ("depth", "limit", "refused", "trap", "opt_out"))
    return {
        "trees": one(f"SELECT count(*) FROM sites WHERE pages > 0 AND outcome IN {CUT}"),
        "unasked": one(f"""SELECT coalesce(sum({limits}), 0)::BIGINT FROM levels WHERE (site, seed) IN
            (SELECT (site, seed) FROM sites WHERE pages > 0 AND outcome IN {CUT})"""),
    }
