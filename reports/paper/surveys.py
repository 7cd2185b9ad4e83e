"""The finished surveys of the experiment, as tables that are read when they are asked for."""

import dataclasses
import functools
import json
import pathlib

import polars as pl

VARIANTS = ("heterogeneous", "homogeneous", "script-rule-off")


@dataclasses.dataclass(frozen=True)
class Survey:
    """One simulated survey: a variant of the world, or of the rules, and the seed of the world."""

    work: pathlib.Path
    variant: str
    seed: int

    @property
    def name(self):
        return f"{self.variant}-{self.seed}"

    @property
    def folder(self):
        return self.work / "surveys" / self.name

    @functools.cached_property
    def manifest(self):
        return json.loads((self.folder / "manifest.json").read_text())

    @property
    def depth(self):
        return self.manifest["settings"]["depth"]

    @property
    def measured(self):
        """Wall and CPU seconds, peak memory in bytes, when it began."""
        return json.loads((self.work / "measured" / f"{self.name}.json").read_text())

    @property
    def recipe(self):
        return (self.work / "recipes" / self.name).read_text()

    @property
    def flags(self):
        return self.recipe.splitlines()[1].removeprefix("flags ")

    @property
    def world_file(self):
        return (self.work / "worlds" / f"{self.name}.toml").read_text()

    @property
    def world(self):
        """What `ccsurvey space describe` tells of the world: every key with value and default."""
        return json.loads((self.work / "worlds" / f"{self.name}.json").read_text())

    def table(self, name):
        return pl.scan_parquet(self.folder / "tables" / name / "*.parquet")


def open_all(work, names):
    """The surveys of these names, by variant and seed; the program stops when one is missing or cannot be used."""
    named = [name.rpartition("-") for name in names]
    surveys = [Survey(work, variant, int(seed)) for variant, _, seed in named]
    surveys.sort(key=lambda survey: (VARIANTS.index(survey.variant), survey.seed))
    wrong = [reason for survey in surveys if (reason := why_unusable(survey))]
    depths = {survey.depth for survey in surveys} if not wrong else {0}
    if len(depths) > 1:
        wrong.append(f"surveys of different depths: {sorted(depths)}")
    if wrong:
        raise SystemExit("\n".join(["analyse.py: cannot go on:", *wrong]))
    return surveys


def why_unusable(survey):
    if not (survey.folder / "manifest.json").is_file():
        return f"{survey.name} is missing"
    if survey.manifest["state"] != "finished":
        return f"{survey.name} is {survey.manifest['state']}, not finished"
    if survey.manifest["broken_promises"]:
        return f"{survey.name} broke a load promise: {survey.manifest['broken_promises'][0]}"
    return why_unreconciled(survey)


def why_unreconciled(survey):
    """The tables tell the same thing twice; when they do not agree, no figure may be drawn from them."""
    sites = survey.table("sites").select(pl.sum("requests", "robots_requests", "external_urls")).collect()
    levels = survey.table("levels").select(pl.sum("requests", "external_urls")).collect()
    links = survey.table("links").select(pl.len()).collect().item()
    if sites["requests"][0] != levels["requests"][0] + sites["robots_requests"][0]:
        return f"{survey.name}: requests of sites and of levels differ"
    if not sites["external_urls"][0] == levels["external_urls"][0] == links:
        return f"{survey.name}: external URLs of sites, levels and links differ"
    return None
