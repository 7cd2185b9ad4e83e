#!/usr/bin/env python3
"""Makes figures, anchors and RESULTS.md from the surveys that reports/paper/run has simulated.

    analyse.py --work DIR --out DIR --program FILE VARIANT-SEED …

Reads the tables and what was measured; draws nothing from the clock or from chance, so that the same surveys
make the same bytes.
"""

import argparse
import os
import pathlib
import sys

import anchors
import concentration
import depths
import drawings
import numpy as np
import polars as pl
import provenance
import results
import surveys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from stamp import Stamp

COUNTED = ("pages", "requests", "bytes", "busy_ms", *(f"{reading}_{of}" for reading in ("union", "pair") for of in depths.EXTERNALS))
COMPARED = ("heterogeneous", "homogeneous")


def main():
    options = parse_options()
    all_surveys = surveys.open_all(options.work, options.surveys)
    curves = {of: {} for of in surveys.VARIANTS}
    trees, measured, spread = ({of: {} for of in COMPARED} for _ in range(3))
    for survey in all_surveys:
        table = depths.by_depth(survey)
        curves[survey.variant][survey.seed] = table
        if survey.variant in COMPARED:
            trees[survey.variant][survey.seed] = depths.trees_by_deepest(survey)
            measured[survey.variant][survey.seed] = anchors.values(table, trees[survey.variant][survey.seed])
            spread[survey.variant][survey.seed] = unevenness(survey)
    found = results.Found(all_surveys, curves, trees, measured, spread, script_rule(curves))
    write_tables(options.out, found)
    draw(options.out, found)
    made = stamped(options.out / "RESULTS.md", options.program, all_surveys)
    made.page.write_text(results.markdown(found, made.line))
    made.write(*(options.out / name for name in MADE))


# What is written beside the page.
FIGURES = ("figure1", "figure2", "figure3", "script-rule")
MADE = (*(f"{name}.{kind}" for name in FIGURES for kind in ("csv", "svg")), "anchors.csv", "unevenness.csv", "runs.csv")


def stamped(page, program, all_surveys):
    """What the page was made with: when and where the surveys ran, not when their tables were read."""
    measured = [survey.measured for survey in all_surveys]
    last = max(took["started"] for took in measured)
    made = Stamp(page, program, "reports/paper/run", last[:10], measured[0]["machine"])
    for survey in all_surveys:
        made.ran(["simulate", survey.work / "worlds" / f"{survey.name}.toml", "DIR", *survey.flags.split()], survey.folder)
    return made


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, required=True, help="where the surveys are")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="where the results go")
    named = os.environ.get("CCSURVEY")
    parser.add_argument("--program", default=named, required=not named, help="what made the surveys [default: $CCSURVEY]")
    parser.add_argument("surveys", nargs="+", help="such as heterogeneous-1")
    return parser.parse_args()


def unevenness(survey):
    ended = concentration.stopping(survey, ended_only=True)
    return {
        **concentration.unevenness(survey),
        **concentration.stopping(survey),
        **{f"ended_{measure}": value for measure, value in ended.items()},
    }


def script_rule(curves):
    """With one query URL a script, what is saved or missed of a survey that fetches all: shares by depth and seed."""
    return [
        {
            "seed": seed,
            "depth": depth,
            **{column: 1 - (one[column][depth] / every[column][depth]) if every[column][depth] else 0.0 for column in COUNTED},
        }
        for seed, every in curves["script-rule-off"].items()
        for one in [curves["heterogeneous"][seed]]
        for depth in one["depth"]
    ]


def write_tables(out, found):
    pl.DataFrame(figure1(found)).write_csv(out / "figure1.csv")
    pl.DataFrame(figure2(found)).write_csv(out / "figure2.csv")
    pl.DataFrame(figure3(found)).write_csv(out / "figure3.csv")
    pl.DataFrame(rule_table(found)).write_csv(out / "script-rule.csv")
    pl.DataFrame(list(anchors.rows(found.measured))).write_csv(out / "anchors.csv")
    pl.DataFrame(spread_table(found)).write_csv(out / "unevenness.csv")
    pl.DataFrame(provenance.runs(found)).write_csv(out / "runs.csv")


def figure1(found):
    for variant in COMPARED:
        for column in ("pages", "union_urls", "pair_urls"):
            yield from by_depth(variant, column, found.stack(variant, column), found.shares(variant, column))


def by_depth(variant, column, numbers, shares):
    for depth in range(numbers.shape[1]):
        yield {"variant": variant, "counted": column, "depth": depth, **summed("", numbers[:, depth]), **summed("share_", shares[:, depth])}


def summed(prefix, values):
    return {
        f"{prefix}mean": round(float(values.mean()), 6),
        f"{prefix}least": round(float(values.min()), 6),
        f"{prefix}most": round(float(values.max()), 6),
    }


def figure2(found):
    for variant in COMPARED:
        for column in ("ended", "at_limit", "without_a_page"):
            numbers = found.tree_stack(variant, column)
            for depth in range(numbers.shape[1]):
                yield {"variant": variant, "trees": column, "deepest": depth, **summed("", numbers[:, depth])}


def figure3(found):
    for variant in COMPARED:
        for depth in range(found.limit + 1):
            yield {
                "variant": variant,
                "depth": depth,
                **{
                    f"{column}_{name}": value
                    for column in (*depths.LOADS, "union_urls", "pair_urls")
                    for name, value in summed("share_", found.shares(variant, column)[:, depth]).items()
                },
            }


def rule_table(found):
    paired = found.seeds_of("script-rule-off")
    for depth in range(found.limit + 1):
        for column in COUNTED:
            shares = np.array([row[column] for row in found.rule if row["depth"] == depth])
            yield {
                "depth": depth,
                "counted": column,
                "rule_on_mean": round(float(found.stack("heterogeneous", column, paired)[:, depth].mean()), 3),
                "rule_off_mean": round(float(found.stack("script-rule-off", column)[:, depth].mean()), 3),
                **summed("share_missed_", shares),
            }


def spread_table(found):
    for variant in COMPARED:
        spread = found.spread[variant]
        for measure in spread[found.seeds_of(variant)[0]]:
            each = [spread[seed][measure] for seed in spread]
            yield {
                "variant": variant,
                "measure": measure,
                **{f"seed_{seed}": round(spread[seed][measure], 6) if seed in spread else None for seed in found.seeds_of("heterogeneous")},
                "mean": round(sum(each) / len(each), 6),
            }


def draw(out, found):
    level_off = found.mean("heterogeneous", "level_off")
    drawings.growth(
        {variant: {column: found.stack(variant, column) for column in ("pages", "union_urls", "pair_urls")} for variant in COMPARED},
        level_off,
        out / "figure1.svg",
    )
    drawings.deepest(
        {
            variant: {column: found.tree_stack(variant, column) for column in ("ended", "at_limit", "without_a_page")}
            for variant in COMPARED
        },
        out / "figure2.svg",
    )
    drawings.coverage(
        {variant: {column: found.shares(variant, column) for column in (*depths.LOADS, "union_urls", "pair_urls")} for variant in COMPARED},
        out / "figure3.svg",
    )
    last = [row for row in found.rule if row["depth"] == found.limit]
    drawings.script_rule({column: [row[column] for row in last] for column in COUNTED}, out / "script-rule.svg")


if __name__ == "__main__":
    main()
