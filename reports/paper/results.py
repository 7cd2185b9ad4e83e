"""RESULTS.md: every number and every verdict in it is computed here."""

import dataclasses
import importlib.metadata
import platform

import anchors
import numpy as np
import provenance
import template
from template import percent, table


@dataclasses.dataclass
class Found:
    """All that the experiment has brought, by variant and seed."""

    surveys: list
    curves: dict
    trees: dict
    measured: dict
    spread: dict
    rule: list

    @property
    def limit(self):
        return self.surveys[0].depth

    def seeds_of(self, variant):
        """The comparisons are made in fewer worlds than the experiment itself."""
        return sorted(self.curves[variant])

    def stack(self, variant, column, seeds=None):
        """A row a seed, a column a depth."""
        seeds = seeds or self.seeds_of(variant)
        return np.array([self.curves[variant][seed][column].to_numpy() for seed in seeds], dtype=float)

    def shares(self, variant, column):
        numbers = self.stack(variant, column)
        whole = numbers[:, -1:]
        return np.divide(numbers, whole, out=np.full_like(numbers, np.nan), where=whole > 0)

    def tree_stack(self, variant, column):
        return np.array([self.trees[variant][seed][column].to_numpy() for seed in self.seeds_of(variant)], dtype=float)

    def mean(self, variant, name):
        return float(np.mean([found[name] for found in self.measured[variant].values()]))

    def mean_holds(self, variant, name):
        """Judged as anchors.csv does, on the rounded mean."""
        (anchor,) = (anchor for anchor in anchors.ANCHORS if anchor.name == name)
        return anchor.holds(round(self.mean(variant, name), 6))


# The paper's statements, and the anchors that all must hold for each.
STATEMENTS = (
    ("S1", "Cumulative pages keep growing to depth 20.", ("pages_last_5",)),
    ("S2", "Cumulative external URLs level off at about depth 9.", ("level_off", "externals_last_5")),
    ("S3", "Few site trees are deeper than 8.", ("deeper_than_8",)),
    ("S4", "Depth 8 costs 80 % of the load of depth 20 and loses no external URLs.", ("load_at_8", "externals_at_8")),
    ("S5", "80 % of the external URLs cost about half the load.", ("load_for_80",)),
)
SAID = {
    "pages_last_5": "{} of all pages are at the last five levels",
    "level_off": "99 % of the external URLs are known at depth {}",
    "externals_last_5": "the last five levels bring {}",
    "deeper_than_8": "{} of the site trees end by themselves below depth 8",
    "at_limit": "{} of the trees deeper than 15 are cut at the limit",
    "load_at_8": "depth 8 costs {} of the requests",
    "externals_at_8": "{} of the external URLs are known by then",
    "load_for_80": "80 % of the external URLs cost {} of the requests",
}


def markdown(found, made):
    return template.fill(
        {
            "made": made,
            "intro": introduction(found),
            "statements": statements(found),
            "figure1": words_of_growth(found),
            "figure2": words_of_trees(found),
            "figure3": words_of_coverage(found),
            "loads": loads(found),
            "homogeneous": homogeneous(found),
            "unevenness": unevenness(found),
            "stopping": stopping(found),
            "script_rule": script_rule(found),
            "anchors": anchor_table(found),
            "by_seed": seed_table(found),
            "world": provenance.world(found),
            "keys": provenance.keys(found),
            "runs": provenance.run_words(found),
            "limit": found.limit,
            "seed_count": len(found.seeds_of("heterogeneous")),
            "compared_count": len(found.seeds_of("homogeneous")),
        }
    )


def amount(name, value):
    return f"{value:.1f}" if name == "level_off" else percent(value)


def spanned(found, variant, name):
    each = [measured[name] for measured in found.measured[variant].values()]
    if any(map(np.isnan, each)):
        return "unknown: a seed has no such trees or URLs"
    return f"{amount(name, np.mean(each))} ({amount(name, min(each))} to {amount(name, max(each))})"


def introduction(found):
    measured = found.measured["heterogeneous"]
    worlds, met = len(measured), anchors.met_by(measured)
    all_statements = tuple(name for _, _, names in STATEMENTS for name in names)
    by_mean = sum(found.mean_holds("heterogeneous", anchor.name) for anchor in anchors.ANCHORS)
    starts = start_urls(found)
    return template.INTRODUCTION.format(
        statements=", ".join(f"{number} in {agreeing(found, names)}" for number, _, names in STATEMENTS),
        all_statements=agreeing(found, all_statements),
        worlds=worlds,
        met=len(met),
        met_seeds=f" (seeds {', '.join(map(str, met))})" if met else "",
        anchors=len(anchors.ANCHORS),
        by_mean=by_mean,
        calibrated=", ".join(f"`{anchor.name}`" for anchor in anchors.ANCHORS if anchor.bound == "specification"),
        python=platform.python_version(),
        polars=importlib.metadata.version("polars"),
        matplotlib=importlib.metadata.version("matplotlib"),
        seeds=", ".join(map(str, found.seeds_of("heterogeneous"))),
        sites=" to ".join(f"{number:,}" for number in dict.fromkeys((min(starts), max(starts)))),
    )


def start_urls(found):
    return [
        int(sum(found.tree_stack("heterogeneous", column)[place].sum() for column in ("ended", "at_limit", "without_a_page")))
        for place in range(len(found.seeds_of("heterogeneous")))
    ]


def agreeing(found, names):
    """Worlds within the bounds of all these anchors."""
    return len(anchors.met_by(found.measured["heterogeneous"], names))


def statements(found):
    def cell(names):
        return "; ".join(SAID[name].format(spanned(found, "heterogeneous", name)) for name in names)

    worlds = len(found.measured["heterogeneous"])
    head = ["", "the paper", "the virtual Web: mean (least to most over the seeds)", "worlds that agree"]
    return table(
        head, [[number, statement, cell(names), f"{agreeing(found, names)} of {worlds}"] for number, statement, names in STATEMENTS]
    )


def words_of_growth(found):
    pages, union = (found.stack("heterogeneous", column).mean(axis=0) for column in ("pages", "union_urls"))
    at = min(8, found.limit)
    return (
        f"From depth {at} to {found.limit} pages grow by {percent(pages[-1] / pages[at] - 1)}, external URLs by "
        f"{percent(union[-1] / union[at] - 1, 2)}. At depth {found.limit} a survey has read {pages[-1]:,.0f} pages "
        f"and knows {union[-1]:,.0f} external URLs (means over the seeds), "
        f"in {found.stack('heterogeneous', 'pair_urls').mean(axis=0)[-1]:,.0f} URL pairs: sites share targets."
    )


def words_of_trees(found):
    ended, cut, none = (found.tree_stack("heterogeneous", column).mean(axis=0) for column in ("ended", "at_limit", "without_a_page"))
    whole = ended.sum() + cut.sum()
    return (
        f"Of {whole:,.0f} site trees with a page, {percent(ended[9:].sum() / whole)} end by themselves below "
        f"depth 8 and {percent(cut.sum() / whole)} are cut at depth {found.limit}. Of the trees deeper than 15, "
        f"{spanned(found, 'heterogeneous', 'at_limit')} are cut at the limit: their sites are endless or go "
        f"even deeper. Another {none.sum():,.0f} start URLs led to no page: no server, no response, "
        "closed by robots.txt, or moved."
    )


def words_of_coverage(found):
    shares = {
        column: found.shares("heterogeneous", column).mean(axis=0) for column in ("requests", "bytes", "busy_ms", "union_urls", "pair_urls")
    }
    half = {of: np.interp(0.5, shares["requests"], shares[of]) for of in ("union_urls", "pair_urls")}
    other = ", ".join(
        f"{percent(float(np.interp(0.8, shares['union_urls'], shares[load])))} of the {name}"
        for load, name in (("bytes", "bytes"), ("busy_ms", "busy time"))
    )
    return (
        f"For half the requests a survey gets {percent(half['union_urls'])} of the external URLs (of the "
        f"URL pairs: {percent(half['pair_urls'])}). 80 % of them cost "
        f"{spanned(found, 'heterogeneous', 'load_for_80')} of the requests, {other}."
    )


def loads(found):
    columns = (
        ("requests", "requests"),
        ("bytes", "bytes"),
        ("busy_ms", "busy time"),
        ("union_urls", "external URLs"),
        ("union_hosts", "hosts"),
        ("union_sites", "sites"),
        ("pair_urls", "URL pairs"),
    )
    shown = [depth for depth in (2, 4, 6, 8, 9, 10, 12, 16) if depth < found.limit]
    shares = [found.shares("heterogeneous", column).mean(axis=0) for column, _ in columns]
    return table(
        [">depth", *(f">{name}" for _, name in columns)], [[depth, *(percent(share[depth]) for share in shares)] for depth in shown]
    )


def homogeneous(found):
    def cell(variant, anchor):
        return spanned(found, variant, anchor.name) + ("" if found.mean_holds(variant, anchor.name) else " ✗")

    both = [[anchor.meaning, *(cell(variant, anchor) for variant in ("heterogeneous", "homogeneous"))] for anchor in anchors.ANCHORS]
    apart = [
        anchor.name
        for anchor in anchors.ANCHORS
        if found.mean_holds("homogeneous", anchor.name) != found.mean_holds("heterogeneous", anchor.name)
    ]
    holding = sum(found.mean_holds("homogeneous", anchor.name) for anchor in anchors.ANCHORS)
    said = f"The mean of the homogeneous worlds meets {holding} of {len(anchors.ANCHORS)} anchors (✗ marks a miss). " + (
        f"The verdicts differ in {', '.join(f'`{name}`' for name in apart)}: there the figures distinguish the two Webs."
        if apart
        else "Every verdict is the same in both Webs: the three figures do not distinguish them."
    )
    return f"{said}\n\n{table(['anchor', *heads_of_variants(found)], both)}"


def heads_of_variants(found):
    return [f">{variant}, {len(found.seeds_of(variant))} seeds" for variant in ("heterogeneous", "homogeneous")]


def of_spread(found, variant, measure):
    return float(np.mean([spread[measure] for spread in found.spread[variant].values()]))


def unevenness(found):
    rows = [
        [f"{unit}: {name}", *(shown.format(of_spread(found, variant, f"{unit}_{measure}")) for variant in ("heterogeneous", "homogeneous"))]
        for unit in ("branches", "sites")
        for measure, name, shown in (
            ("counted", "counted", "{:,.0f}"),
            ("gini", "Gini coefficient", "{:.3f}"),
            ("richest_tenth", "URL pairs on the richest tenth of pages", "{:.1%}"),
        )
    ]
    return table(["below depth 2", *heads_of_variants(found)], rows).replace("%", " %")


def stopping(found):
    columns = [(variant, prefix) for prefix in ("", "ended_") for variant in ("heterogeneous", "homogeneous")]
    rows = []
    for wanted in ("0.80", "0.95"):
        for rule, name in (("uniform", "the same depth for all"), ("foresight", "each tree ended where it pays least")):
            rows.append(
                [
                    f"load for {100 * float(wanted):.0f} % of the URL pairs, {name}",
                    *(percent(of_spread(found, variant, f"{prefix}{rule}_load_{wanted}")) for variant, prefix in columns),
                ]
            )
    for levels in (1, 2, 3):
        rows.append(
            [
                f"trees ended after {levels} level{'s' if levels > 1 else ''} without a new external URL: "
                "load, coverage, gain over the same load by depth",
                *(stopped(found, *column, levels) for column in columns),
            ]
        )
    head = ["", *(f">{variant}{', trees not cut' if prefix else ''}" for variant, prefix in columns)]
    saved = {
        column: 1
        - of_spread(found, column[0], f"{column[1]}foresight_load_0.95") / of_spread(found, column[0], f"{column[1]}uniform_load_0.95")
        for column in columns
    }
    best = {
        (variant, prefix): max(of_spread(found, variant, f"{prefix}stable_{levels}_gain") for levels in (1, 2, 3))
        for variant, prefix in columns
    }
    return f"{table(head, rows)}\n\n{template.stopping_words(saved, best)}"


def stopped(found, variant, prefix, levels):
    load, coverage, gain = (of_spread(found, variant, f"{prefix}stable_{levels}_{of}") for of in ("load", "coverage", "gain"))
    return f"{percent(load)}, {percent(coverage)}, {template.points(gain)}"


def script_rule(found):
    names = (
        ("requests", "requests"),
        ("bytes", "bytes"),
        ("busy_ms", "busy time"),
        ("pages", "pages"),
        ("union_urls", "external URLs"),
        ("union_hosts", "external hosts"),
        ("union_sites", "external sites"),
    )
    rows = []
    for column, name in names:
        cells = []
        for depth in dict.fromkeys((min(8, found.limit), found.limit)):
            each = [row[column] for row in found.rule if row["depth"] == depth]
            cells.append(f"{percent(np.mean(each))} ({percent(min(each))} to {percent(max(each))})")
        rows.append([name, *cells])
    depths = dict.fromkeys((min(8, found.limit), found.limit))
    return table(["saved or missed", *(f">to depth {depth}" for depth in depths)], rows)


def anchor_table(found):
    measured = found.measured["heterogeneous"]
    return table(
        ["anchor", "meaning", "bounds", ">mean", ">worlds within", "bounds by"],
        [
            [
                f"`{anchor.name}`",
                anchor.meaning,
                f"{anchor.least:g} to {anchor.most:g}",
                marked(anchor, found.mean("heterogeneous", anchor.name)),
                f"{len(anchor.holds_in(measured))} of {len(measured)}",
                anchor.bound,
            ]
            for anchor in anchors.ANCHORS
        ],
    )


def seed_table(found):
    """Every world for itself."""
    measured = found.measured["heterogeneous"]
    rows = [
        [
            seed,
            *(marked(anchor, values[anchor.name]) for anchor in anchors.ANCHORS),
            sum(seed in anchor.holds_in(measured) for anchor in anchors.ANCHORS),
        ]
        for seed, values in measured.items()
    ]
    return table([">seed", *(f">`{anchor.name}`" for anchor in anchors.ANCHORS), ">within"], rows)


def marked(anchor, value):
    return f"{value:.4g}" + ("" if anchor.holds(round(value, 6)) else " ✗")
