"""How the experiment was made: the worlds, how they were surveyed, and what that took."""

import numpy as np
import polars as pl
import template
from template import table


def world(found):
    first = {}
    for survey in found.surveys:
        first.setdefault(survey.variant, survey)
    flags = {variant: survey.flags for variant, survey in first.items()}
    files = "\n".join(
        f"# {variant}, seed {survey.seed}\n{survey.world_file}"
        for variant, survey in first.items()
        if variant in ("heterogeneous", "homogeneous")
    )
    specification = found.surveys[0].manifest["simulation"]["specification"]
    return (
        f"The worlds' specification is `{specification}`. The complete files:\n\n```toml\n{files}```\n\n"
        f"Flags of `ccsurvey simulate`; everything else has its default: `{flags['heterogeneous']}`. "
        f"The survey without the script rule uses the heterogeneous world and also "
        f"`{flags['script-rule-off'].removeprefix(flags['heterogeneous']).strip()}`."
    )


def keys(found):
    """Number keys whose value in the profile is not the default of the key."""
    differing = [key for key in found.surveys[0].world["keys"] if is_changed(key)]
    if not differing:
        return "Every number key of the world has its default."
    return table(
        ["key", ">value", ">default", "unit"], [[f"`{key['key']}`", key["value"], key["default"], key["unit"]] for key in differing]
    )


def is_changed(key):
    try:
        return float(key["value"]) != float(key["default"])
    except (TypeError, ValueError):
        return str(key["value"]) != str(key["default"]).strip('"')


def runs(found):
    for survey in found.surveys:
        took = survey.measured
        count = survey.manifest["tables"]
        yield {
            "variant": survey.variant,
            "seed": survey.seed,
            "started": took["started"],
            "wall_seconds": took["wall_seconds"],
            "cpu_seconds": took["cpu_seconds"],
            "peak_mib": round(took["peak_bytes"] / 2**20),
            "sites": count["sites"]["rows"],
            "exchanges": count["exchanges"]["rows"],
            "links": count["links"]["rows"],
            "virtual_days": round(virtual_days(survey), 2),
        }


def virtual_days(survey):
    sites = survey.table("sites").select(first=pl.min("started"), last=pl.max("finished")).collect()
    return (sites["last"][0] - sites["first"][0]).total_seconds() / 86400


def run_words(found):
    rows = list(runs(found))
    shown = {"wall_seconds": "{:,.0f}", "peak_mib": "{:,.0f}", "exchanges": "{:,.0f}", "virtual_days": "{:,.1f}"}
    numbers = {}
    for column, form in shown.items():
        each = [row[column] for row in rows]
        numbers[f"{column}_median"], numbers[f"{column}_most"] = form.format(np.median(each)), form.format(max(each))
    hours = sum(row["cpu_seconds"] for row in rows) / 3600
    return template.RUNS.format(count=len(rows), hours=f"{hours:.1f}", **numbers)
