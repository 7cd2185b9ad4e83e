"""The figures as SVG: the same tables make the same bytes."""

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import FuncFormatter, MaxNLocator, PercentFormatter

# Okabe and Ito's colours, told apart with every kind of colour vision.
BLACK, ORANGE, SKY, GREEN, BLUE, RED = "#000000", "#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00"
GREY = "#767676"
TITLES = {"heterogeneous": "Heterogeneous Web", "homogeneous": "Homogeneous Web"}
LOAD_NAMES = {"requests": "requests", "bytes": "bytes", "busy_ms": "busy time"}
# The second reading of external URLs.
THIN = {"linewidth": 0.9, "linestyle": (0, (4, 2))}
# Inches of 96 pixels: 720 pixels wide.
WIDTH = 7.5

plt.rcParams.update(
    {
        "svg.hashsalt": "ccsurvey",
        "svg.fonttype": "none",
        "font.family": "sans-serif",
        # The measures are those of the first; the others are as wide, wherever the picture is shown.
        "font.sans-serif": ["DejaVu Sans", "Verdana", "sans-serif"],
        "font.size": 9,
        "axes.titlesize": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.color": "#e4e4e4",
        "grid.linewidth": 0.6,
        "axes.axisbelow": True,
        "lines.linewidth": 1.8,
        "legend.frameon": False,
        "legend.fontsize": 8.5,
    }
)


def save(figure, file, title):
    figure.savefig(file, format="svg", metadata={"Date": None, "Title": title})
    plt.close(figure)


def panels(count, height, **more):
    figure, axes = plt.subplots(1, count, figsize=(WIDTH, height), layout="constrained", **more)
    # Room between the last tick's number of one panel and the first of the next.
    figure.get_layout_engine().set(wspace=0.07)
    return figure, np.atleast_1d(axes)


def line(axes, x, stack, label, **style):
    """The mean over the seeds, and the range of the seeds as a band."""
    (drawn,) = axes.plot(x, stack.mean(axis=0), label=label, **style)
    axes.fill_between(x, stack.min(axis=0), stack.max(axis=0), color=drawn.get_color(), alpha=0.15, linewidth=0)
    return drawn


def depth_axis(axes, limit):
    axes.set_xlim(0, limit)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 4, 5, 10]))
    axes.set_xlabel("depth (links followed)")


def counts(axes):
    """Large numbers as people say them: 250 k, 1.2 M."""

    def said(value, _):
        for size, letter in ((1e6, " M"), (1e3, " k")):
            if abs(value) >= size:
                return f"{value / size:g}{letter}"
        return f"{value:g}"

    axes.yaxis.set_major_formatter(FuncFormatter(said))
    axes.set_ylim(bottom=0)


def legend_above(figure, axes, columns):
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=columns)


def growth(stacks, level_off, file):
    """Figure 1: cumulative pages and external URLs by depth; `stacks[variant][column]` has a row a seed."""
    figure, (pages, externals) = panels(2, 3.3)
    for variant, colour in (("heterogeneous", BLUE), ("homogeneous", RED)):
        of = stacks[variant]
        x = np.arange(of["pages"].shape[1])
        # Both Webs may have the same pages: then the first must be seen below the second.
        line(pages, x, of["pages"], TITLES[variant], color=colour, linewidth=3.4 if colour == BLUE else 1.2)
        line(externals, x, of["union_urls"], TITLES[variant], color=colour)
        externals.plot(x, of["pair_urls"].mean(axis=0), color=colour, **THIN, label=f"{TITLES[variant]}, counted in each site tree")
    for axes, name in ((pages, "pages read"), (externals, "external URLs found")):
        depth_axis(axes, x[-1])
        counts(axes)
        axes.set_ylabel(f"{name}, cumulative")
    if np.isfinite(level_off):
        mark_level_off(externals, level_off, is_left=level_off > x[-1] / 2)
    legend_above(figure, externals, 2)
    save(figure, file, "Pages and external URLs by depth")


def mark_level_off(axes, depth, is_left):
    axes.axvline(depth, color=GREY, linewidth=0.9)
    axes.annotate(
        f"heterogeneous:\n99 % at depth {depth:.3g}",
        (depth, 0.04),
        xycoords=("data", "axes fraction"),
        xytext=(-5 if is_left else 5, 0),
        textcoords="offset points",
        ha="right" if is_left else "left",
        color="#444444",
        fontsize=8.5,
    )


def deepest(stacks, file):
    """Figure 2: site trees by their deepest level, those cut at the limit apart."""
    figure, both = panels(2, 3.3, sharey=True)
    parts = (
        ("ended", BLUE, "ended by themselves"),
        ("at_limit", ORANGE, "cut at the limit"),
        ("without_a_page", "#bbbbbb", "no page read"),
    )
    for axes, (variant, of) in zip(both, stacks.items()):
        below = 0
        for column, colour, label in parts:
            mean = of[column].mean(axis=0)
            axes.bar(np.arange(mean.size), mean, bottom=below, width=0.8, color=colour, label=label)
            below = below + mean
        whole = sum(of[column] for column, _, _ in parts)
        error = [below - whole.min(axis=0), whole.max(axis=0) - below]
        axes.errorbar(np.arange(below.size), below, yerr=error, fmt="none", ecolor="#333333", elinewidth=0.8, capsize=1.5)
        depth_axis(axes, below.size - 1)
        axes.set_xlim(-0.7, below.size - 0.3)
        axes.set_xlabel("deepest level of the site tree")
        axes.grid(False, axis="x")
        axes.axvline(8.5, color=GREY, linewidth=0.9, linestyle=(0, (1, 2)))
        axes.annotate(
            "deeper than 8",
            (8.5, 0.97),
            xycoords=("data", "axes fraction"),
            xytext=(4, 0),
            textcoords="offset points",
            va="top",
            fontsize=8.5,
            color="#444444",
        )
        axes.set_title(TITLES[variant])
    counts(both[0])
    both[0].set_ylabel("site trees")
    legend_above(figure, both[0], 3)
    save(figure, file, "Site trees by deepest level")


def coverage(stacks, file):
    """Figure 3: external URLs known against load spent."""
    figure, both = panels(2, 3.9, sharey=True)
    for axes, (variant, of) in zip(both, stacks.items()):
        for load, colour in (("requests", BLUE), ("bytes", GREEN), ("busy_ms", RED)):
            spent = of[load].mean(axis=0)
            axes.plot(spent, of["union_urls"].mean(axis=0), color=colour, label=LOAD_NAMES[load])
            axes.plot(spent, of["pair_urls"].mean(axis=0), color=colour, **THIN)
        axes.plot([], [], color=GREY, label="counted in each site tree", **THIN)
        mark_depths(axes, of["requests"].mean(axis=0), of["union_urls"].mean(axis=0))
        mark_paper(axes)
        axes.set_xlim(0, 1.02)
        axes.set_ylim(0, 1.04)
        axes.xaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))
        axes.yaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))
        axes.set_xlabel("load, share of the deepest survey")
        axes.set_title(TITLES[variant])
    both[0].set_ylabel("external URLs, share of all known")
    legend_above(figure, both[0], 4)
    save(figure, file, "External URLs against load")


def mark_paper(axes):
    """What the paper says of half the load; its words stand below all curves, which are above the diagonal."""
    axes.plot([0.5, 0.5, 0], [0, 0.8, 0.8], color=GREY, linewidth=0.9, linestyle=(0, (1, 2)))
    axes.plot(0.5, 0.8, marker="D", markersize=5, color=GREY, zorder=4)
    axes.annotate("the paper (◆):\n80 % for half the load", (0.52, 0.04), va="bottom", fontsize=8.5, color="#444444")


def mark_depths(axes, spent, known):
    """Depths 4, 8 and 12 on the curve of requests, their numbers below it, where no curve is."""
    for depth in (depth for depth in (4, 8, 12) if depth < known.size):
        axes.plot(spent[depth], known[depth], marker="o", markersize=6, color=BLUE, markeredgecolor="white", zorder=5)
        axes.annotate(
            f"depth {depth}" if depth == 4 else f"{depth}",
            (spent[depth], known[depth]),
            xytext=(3, -9),
            textcoords="offset points",
            ha="left",
            va="top",
            fontsize=8.5,
            color=BLUE,
        )


def script_rule(lost, file):
    """What one query URL a script misses and saves: `lost[measure]` has a share a seed."""
    names = {
        "requests": "requests saved",
        "bytes": "bytes saved",
        "busy_ms": "busy time saved",
        "pages": "pages missed",
        "union_urls": "external URLs missed",
        "union_hosts": "external hosts missed",
        "union_sites": "external sites missed",
    }
    figure, (axes,) = panels(1, 2.7)
    for place, (measure, name) in enumerate(names.items()):
        shares = np.array(lost[measure])
        colour = GREEN if name.endswith("saved") else ORANGE
        axes.barh(place, shares.mean(), color=colour, height=0.65)
        axes.plot([shares.min(), shares.max()], [place, place], color="#333333", linewidth=0.9, marker="|")
        end = max(shares.max(), 0)
        axes.annotate(
            f"{shares.mean():.1%}".replace("%", " %"), (end, place), xytext=(5, 0), textcoords="offset points", va="center", fontsize=8.5
        )
    axes.set_yticks(range(len(names)), names.values())
    axes.invert_yaxis()
    axes.grid(False, axis="y")
    axes.axvline(0, color="#333333", linewidth=0.8)
    axes.margins(x=0.12)
    axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=None, symbol=" %"))
    axes.set_xlabel("share of a survey that fetches every query URL; lines: range over the seeds")
    save(figure, file, "What one query URL a script saves and misses")
