"""How unevenly external URLs lie in the Web, and what stopping each site for itself could gain."""

import re
import urllib.parse

import numpy as np
import polars as pl

# From here on a crawler may decide to stop; pages of links stand above (VIRTUAL-WEB: depth 1 or 2).
DEEP = 3
# A branch or site with fewer pages than this says more about chance than about itself.
LEAST_PAGES = 10
RICHEST = 0.1


def unevenness(survey):
    """Gini coefficient, and the share of external URLs in the richest tenth of pages, over branches and sites."""
    pages, links = deep_pages(survey), deep_links(survey)
    told = {}
    for unit, keys in (("branches", ["site", "branch"]), ("sites", ["site"])):
        table = (
            pages.group_by(keys)
            .agg(pl.sum("pages"))
            .join(links.group_by(keys).agg(pl.sum("external")), on=keys, how="left")
            .fill_null(0)
            .filter(pl.col("pages") >= LEAST_PAGES)
        )
        of_pages, of_external = lorenz(*(table[of].cast(pl.Float64).to_numpy() for of in ("pages", "external")))
        told[f"{unit}_counted"] = float(table.height)
        told[f"{unit}_gini"] = 2 * area_below(of_pages, of_external) - 1
        told[f"{unit}_richest_tenth"] = float(np.interp(RICHEST, of_pages, of_external))
    return told


def deep_pages(survey):
    """Pages that were read at depth 3 and below, by site and branch."""
    return (
        with_branch(
            survey.table("exchanges")
            .filter((pl.col("purpose") == "page") & pl.col("internal_links").is_not_null() & (pl.col("depth") >= DEEP))
            .select("site", branch_of("url"))
            .group_by("site", "segment")
            .agg(pages=pl.len())
            .collect(engine="streaming")
        )
        .group_by("site", "branch")
        .agg(pl.sum("pages"))
    )


def deep_links(survey):
    """External URLs that were new in their tree on such pages, by site and branch."""
    return (
        with_branch(
            survey.table("links")
            .filter(pl.col("depth") >= DEEP)
            .select("site", branch_of("page"))
            .group_by("site", "segment")
            .agg(external=pl.len())
            .collect()
        )
        .group_by("site", "branch")
        .agg(pl.sum("external"))
    )


def branch_of(column):
    """Host and first segment of the path: pages below one child of the front page share them."""
    return pl.col(column).str.extract(r"^https?://([^/]+/[^/?;]*)").alias("segment")


def with_branch(table):
    """A segment in the one spelling of its branch: links write it in several."""
    segments = table["segment"].unique().to_list()
    spelled = {segment: re.sub(r"\.html?$", "", urllib.parse.unquote(segment or "").lower()) for segment in segments}
    return table.with_columns(branch=pl.col("segment").replace(spelled)).drop("segment")


def lorenz(sizes, yields):
    """Cumulative shares of size and yield, the richest first."""
    order = np.argsort(-yields / sizes, kind="stable")
    both = [np.concatenate(([0.0], np.cumsum(values[order]))) for values in (sizes, yields)]
    return [values / values[-1] if values[-1] else np.full_like(values, np.nan) for values in both]


def area_below(x, y):
    return float(np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2))


def stopping(survey, ended_only=False):
    """What ending each site tree for itself would save, against the same depth for all (pair reading).

    `foresight_load` is the load for so much of the external URLs if one knew what every level of every tree
    will bring: no rule can do better with whole levels. `stable_N` ends a tree after N levels in a row that
    brought nothing new; its gain is the coverage above that of the uniform depth at the same load. With
    `ended_only` trees that are cut at the limit are left out, and with them the traps without end, which any
    rule for stopping saves in any Web.
    """
    requests, external = trees(survey, ended_only)
    spent, covered = (values.sum(axis=0).cumsum() / values.sum() for values in (requests, external))
    told = {}
    for wanted in (0.80, 0.95):
        told[f"uniform_load_{wanted:.2f}"] = float(np.interp(wanted, covered, spent))
        told[f"foresight_load_{wanted:.2f}"] = foresight(requests, external, wanted)
    for levels in (1, 2, 3):
        walked = walked_until_quiet(external, levels)
        load = float((requests * walked).sum() / requests.sum())
        found = float((external * walked).sum() / external.sum())
        told[f"stable_{levels}_load"] = load
        told[f"stable_{levels}_coverage"] = found
        told[f"stable_{levels}_gain"] = found - float(np.interp(load, spent, covered))
    return told


def trees(survey, ended_only):
    """Requests and new external URLs, a row a site tree and a column a depth."""
    table = (
        survey.table("levels")
        .filter(pl.col("depth") <= survey.depth)
        .select("site", "seed", "depth", "requests", "external_urls")
        .collect()
    )
    if ended_only:
        ended = survey.table("sites").filter(pl.col("outcome") != "depth").select("site", "seed").collect()
        table = table.join(ended, on=["site", "seed"], how="semi")
    numbers = table.select(pl.struct("site", "seed").rank("dense") - 1).to_series().to_numpy()
    depths = table["depth"].to_numpy()
    both = []
    for column in ("requests", "external_urls"):
        matrix = np.zeros((numbers.max() + 1, survey.depth + 1))
        matrix[numbers, depths] = table[column].to_numpy()
        both.append(matrix)
    return both


def walked_until_quiet(external, levels):
    """Which levels are walked when a tree ends after so many levels in a row without a new external URL."""
    quiet = np.zeros(external.shape[0], dtype=int)
    walked = np.ones_like(external, dtype=bool)
    for depth in range(external.shape[1]):
        walked[:, depth] = quiet < levels
        is_quiet = external[:, depth] == 0
        quiet = np.where(quiet >= levels, quiet, np.where(is_quiet, quiet + 1, 0))
    return walked


def foresight(requests, external, wanted):
    """The least load for so much of the external URLs, when every tree may end at a level of its own.

    Front pages are fetched in any case. Below them each tree is a chain of levels; pooling its levels to falling
    yields (the upper hull of its curve) and taking the best pools first is optimal up to one pool.
    """
    pools = [pool for tree in zip(requests[:, 1:], external[:, 1:]) for pool in falling_yields(*tree)]
    pools.sort(key=lambda pool: -pool[1] / pool[0])
    cost = requests[:, 0].sum() + np.concatenate(([0.0], np.cumsum([pool[0] for pool in pools])))
    found = external[:, 0].sum() + np.concatenate(([0.0], np.cumsum([pool[1] for pool in pools])))
    return float(np.interp(wanted * external.sum(), found, cost) / requests.sum())


def falling_yields(requests, external):
    """The levels of a tree, neighbours pooled until each pool yields less a request than the one above it."""
    pools = []
    for cost, found in zip(requests, external):
        if cost == 0 and found == 0:
            continue
        pool = (max(cost, 1e-9), found)
        while pools and pool[1] * pools[-1][0] >= pools[-1][1] * pool[0]:
            above = pools.pop()
            pool = (above[0] + pool[0], above[1] + pool[1])
        pools.append(pool)
    return pools
