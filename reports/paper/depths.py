"""What a survey cost and brought by depth: the numbers behind the three figures."""

import numpy as np
import polars as pl

LOADS = ("requests", "bytes", "busy_ms")
EXTERNALS = ("urls", "hosts", "sites")


def by_depth(survey):
    """A row a depth, cumulative: pages, load, and external URLs, hosts and sites in both readings."""
    return (
        pl.DataFrame({"depth": range(survey.depth + 1)}, schema={"depth": pl.UInt32})
        .join(levels(survey), on="depth", how="left")
        .join(union(survey), on="depth", how="left")
        .fill_null(0)
        .with_columns(robots(survey))
        .sort("depth")
        .with_columns(pl.exclude("depth").cum_sum())
    )


def levels(survey):
    """New at each depth, summed over the site trees; external ones are the pair reading."""
    summed = ("pages", "requests", "busy_ms")
    return (
        survey.table("levels")
        .group_by("depth")
        .agg(
            pl.sum(*summed),
            bytes=(pl.col("sent_bytes") + pl.col("received_bytes")).sum(),
            **{f"pair_{of}": pl.sum(f"external_{of}") for of in EXTERNALS},
        )
        .collect()
    )


def robots(survey):
    """Load of robots.txt, added at depth 0: it stands outside the tree and is asked for before a host's first page."""
    sites = (
        survey.table("sites").select(pl.sum("requests", "busy_ms"), bytes=(pl.col("sent_bytes") + pl.col("received_bytes")).sum()).collect()
    )
    of_levels = levels(survey).select(pl.sum(*LOADS))
    is_first = pl.col("depth") == 0
    return [
        pl.when(is_first).then(pl.col(load) + (sites[load][0] - of_levels[load][0])).otherwise(pl.col(load)).alias(load) for load in LOADS
    ]


def union(survey):
    """Distinct over the survey: each external URL, host and site once, at the least depth where any tree has it."""
    counted = None
    for of, column in zip(EXTERNALS, ("url", "host", "target_site")):
        new = survey.table("links").group_by(column).agg(pl.min("depth")).group_by("depth").agg(pl.len().alias(f"union_{of}")).collect()
        counted = new if counted is None else counted.join(new, on="depth", how="full", coalesce=True)
    return counted


def share(table, column):
    """Of what is known or spent at the deepest level, how much at each depth."""
    values = table[column].to_numpy().astype(float)
    return values / values[-1] if values[-1] else np.full_like(values, np.nan)


def load_for(table, coverage, load="requests", of="union_urls"):
    """The share of the load at which so much is covered, by straight lines between depths; NaN when nothing is."""
    covered, spent = share(table, of), share(table, load)
    if np.isnan(covered).any():
        return float("nan")
    after = int(np.argmax(covered >= coverage))
    if after == 0:
        return float(spent[0])
    between = (coverage - covered[after - 1]) / (covered[after] - covered[after - 1])
    return float(spent[after - 1] + between * (spent[after] - spent[after - 1]))


def trees_by_deepest(survey):
    """Site trees by the deepest level at which something was asked for.

    Those that end at the limit of the survey are kept apart, for nobody knows how deep they are; so are those
    without a page: servers that do not answer, and sites that robots.txt or a redirect closes.
    """
    is_tree, is_cut = pl.col("pages") > 0, pl.col("outcome") == "depth"
    counted = (
        survey.table("sites")
        .with_columns(depth=pl.col("deepest").fill_null(0))
        .group_by("depth")
        .agg(
            ended=(is_tree & ~is_cut).sum(),
            at_limit=(is_tree & is_cut).sum(),
            without_a_page=(~is_tree).sum(),
        )
        .collect()
    )
    depths = pl.DataFrame({"depth": range(survey.depth + 1)}, schema={"depth": pl.UInt32})
    return depths.join(counted, on="depth", how="left").fill_null(0).sort("depth")
