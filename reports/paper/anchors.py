"""The numbers that the paper's findings come down to, each with the bounds within which it counts as repeated."""

import dataclasses

import depths
import numpy as np


@dataclasses.dataclass(frozen=True)
class Anchor:
    name: str
    meaning: str
    least: float
    most: float
    # Who says so: the specification of the virtual Web, or how we read a word like "few" or "about".
    bound: str

    def holds(self, value):
        return bool(self.least <= value <= self.most)

    def holds_in(self, measured):
        """The seeds whose world is within the bounds; `measured[seed]` is what `values` gave."""
        return [seed for seed in measured if self.holds(round(measured[seed][self.name], 6))]


ANCHORS = (
    Anchor("load_at_8", "requests of depths 0 to 8, share of all", 0.74, 0.83, "specification"),
    Anchor("externals_at_8", "external URLs known at depth 8, share of all (union)", 0.97, 1.0, "specification"),
    Anchor("load_for_80", "requests until 80 % of the external URLs are known, share of all (union)", 0.40, 0.55, "specification"),
    Anchor("pages_last_5", "pages of the last five levels, share of all: at least 1 % is still growing", 0.01, 1.0, "our reading"),
    Anchor(
        "externals_last_5",
        "external URLs new at the last five levels, share of all (union): at most 1 % is level",
        0.0,
        0.01,
        "our reading",
    ),
    Anchor("level_off", "the least depth with 99 % of the external URLs (union): about 9 is 8 to 10", 8, 10, "our reading"),
    Anchor("deeper_than_8", "site trees that end by themselves below depth 8, share of trees: few is 10 %", 0.0, 0.10, "our reading"),
    Anchor("at_limit", "of the site trees deeper than 15, those that end at the limit: piled up is half", 0.5, 1.0, "our reading"),
)


def values(table, trees):
    """Every anchor's value in one survey, from its tables by depth."""
    pages, externals = depths.share(table, "pages"), depths.share(table, "union_urls")
    last = len(pages) - 1
    ended, cut = (trees[column].to_numpy().astype(float) for column in ("ended", "at_limit"))
    trees_counted, below_15 = ended.sum() + cut.sum(), ended[16:].sum() + cut[16:].sum()
    return {
        "load_at_8": float(depths.share(table, "requests")[min(8, last)]),
        "externals_at_8": float(externals[min(8, last)]),
        "load_for_80": depths.load_for(table, 0.8),
        "pages_last_5": 1 - float(pages[max(last - 5, 0)]),
        "externals_last_5": 1 - float(externals[max(last - 5, 0)]),
        "level_off": float(np.argmax(externals >= 0.99)) if not np.isnan(externals).any() else float("nan"),
        "deeper_than_8": float(ended[9:].sum() / trees_counted) if trees_counted else float("nan"),
        "at_limit": float(cut[16:].sum() / below_15) if below_15 else float("nan"),
    }


def met_by(measured, names=tuple(anchor.name for anchor in ANCHORS)):
    """The seeds whose world is within the bounds of all these anchors at once."""
    wanted = [set(anchor.holds_in(measured)) for anchor in ANCHORS if anchor.name in names]
    return sorted(set(measured).intersection(*wanted))


def rows(measured):
    """The rows of anchors.csv: `measured[variant][seed]` is what `values` gave. A variant may have fewer seeds."""
    seeds = sorted(set().union(*measured.values()))
    for variant in measured:
        for anchor in ANCHORS:
            each = {seed: found[anchor.name] for seed, found in measured[variant].items()}
            mean = sum(each.values()) / len(each)
            yield {
                "variant": variant,
                # The mean is what the worlds were calibrated to. The homogeneous variant is a comparison: what it gives is
                # told, not demanded.
                "required": "yes" if variant == "heterogeneous" else "no",
                "anchor": anchor.name,
                "meaning": anchor.meaning,
                **{f"seed_{seed}": round(each[seed], 6) if seed in each else None for seed in seeds},
                "mean": round(mean, 6),
                "least": anchor.least,
                "most": anchor.most,
                "bound": anchor.bound,
                "mean_holds": "yes" if anchor.holds(round(mean, 6)) else "no",
                "holds_in": len(anchor.holds_in(measured[variant])),
                "seeds": len(each),
            }
