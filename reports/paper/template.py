"""The words of RESULTS.md around the numbers."""

INTRODUCTION = """\
**The worlds were calibrated to these figures**: keys of the virtual Web were chosen so that the mean over worlds meets the \
anchors {calibrated}. So the agreement of their mean is no evidence for the paper. This page shows how far single worlds \
scatter. Of {worlds} worlds, which differ only in their seed, {met}{met_seeds} meet all {anchors} anchors at once, and \
{all_statements} agree with all statements of the paper ({statements}). Their mean meets {by_mean} of the {anchors}.

Seeds {seeds}, {sites} start URLs each. Python {python}, polars {polars}, matplotlib {matplotlib}. A script computes every \
number and every verdict on this page, from the bounds under *Anchors*."""

RUNS = """\
{count} surveys took {hours} CPU-hours in all. The median survey took {wall_seconds_median} s ({wall_seconds_most} s at most; \
the machine was shared), {peak_mib_median} MiB of memory at its peak ({peak_mib_most} MiB at most), and sent \
{exchanges_median} requests ({exchanges_most} at most). With the default pauses a real survey of this kind would \
last {virtual_days_median} days ({virtual_days_most} at most): the crowded servers set the pace. Each survey is in \
[runs.csv](runs.csv)."""

PAGE = """\
# The paper's experiment, repeated on the virtual Web

{made}

{intro}

## The paper's statements

Nakahira, Hoshino, Mikami, "Low Load Server Crawler: Design and Evaluation", WWW 2008: about 3400 start URLs under
African country domains, walked to depth 20. Here the start list of a virtual Web (`africa-2006`) is walked to the
same depth. *Union* counts an external URL once in the survey. *Pair* counts it once in each site tree that links to it: a URL pair is
an external URL and such a site tree.

{statements}

## Figure 1: pages grow, external URLs level off

![Cumulative pages and external URLs by depth](figure1.svg)

{figure1} Lines are means over the seeds, bands their range; [figure1.csv](figure1.csv).

## Figure 2: how deep site trees are

![Site trees by deepest level](figure2.svg)

{figure2} Whiskers are the range over the seeds; [figure2.csv](figure2.csv).

## Figure 3: external URLs against load

![Share of external URLs against share of load](figure3.svg)

{figure3} Dots are depths 4, 8 and 12 by requests; [figure3.csv](figure3.csv).

Load and coverage by depth in the heterogeneous Web, shares of the deepest survey, means over the seeds. Load includes redirects
and robots.txt (at depth 0, because it is outside the tree).

{loads}

## What the three figures do not tell

In the heterogeneous Web, sites and branches differ in the number of external URLs on their pages. In the homogeneous variant,
all have the same mean. {homogeneous}

The next table shows how unevenly URL pairs are distributed over branches (pages below one child of a front page) and sites with at least ten
pages at depth 3 and below, weighted by pages. 0 is even, 1 is all in one place. Both Webs include endless traps, which
hold nothing.

{unevenness}

The next table shows what a separate end for each site tree could gain over one depth for all (pair reading, replayed from the table
`levels`, without robots.txt). With *ended where it pays least* the yield of every level is known beforehand, so no
rule for whole trees can do better. It shows the possible gain, not the gain of a rule. Any rule saves endless sites in any
Web, so the last two columns leave out the trees that are cut at the limit.

{stopping}

Every measure by seed: [unevenness.csv](unevenness.csv).

## What the script rule costs

![Shares saved and missed](script-rule.svg)

One query URL per script is fetched. Compared with a survey of the same world that fetches every one, this saves requests and
misses what only other query URLs show. The table has means and ranges over {compared_count} seeds, heterogeneous Web. All depths are in
[script-rule.csv](script-rule.csv).

{script_rule}

## Anchors

The virtual Web was calibrated to the bounds by *specification*. *Our reading* gives a number to a word of the paper, such
as "few" or "about"; another reader may choose another number. `reports/paper/check` judges them again from
[anchors.csv](anchors.csv).

{anchors}

Each world separately. ✗ marks a value out of bounds; *within* counts the anchors that the world meets:

{by_seed}

## The worlds

{world}

Keys in which the heterogeneous world differs from the defaults:

{keys}

## Time and memory

{runs}

## Limits

- The virtual Web is a model on one machine. Many of its numbers are assumed ([A] in its keys), and some of these were
  chosen to reproduce the paper's figures. So the agreement is no independent proof of the paper. It shows that the
  program, walking link by link, finds what the model holds, and how far the seeds scatter.
- The paper gives its findings in rounded words and figures, not as tables. Bounds by *our reading* are ours.
- Start URLs are the whole start list, without feed-back, so depth is the only variable.
- Time is virtual: busy time follows from the model's servers and links, and no server was loaded.
- Each survey is walked once, to depth {limit}; a shallower survey is its cut. `tests/promises/cut.rs` tests that a cut equals a survey to that
  depth.
- Ranges are over {seed_count} seeds. Those of the comparisons (the homogeneous variant, the script rule) are over
  {compared_count}. They are not confidence intervals.
"""


def fill(parts):
    return PAGE.format(**parts)


def stopping_words(saved, best):
    """What can be won, and by whom, as the numbers say it; a gain under one point or percent counts as nothing."""
    return " ".join(
        words_of_part(saved, best, *part)
        for part in (
            ("", "Over all trees", "the homogeneous Web"),
            ("ended_", "Without the trees that are cut at the limit", "the homogeneous Web without endless sites"),
        )
    )


def words_of_part(saved, best, prefix, begin, where):
    saves = {variant: f"{100 * saved[variant, prefix]:.0f} %" for variant in ("heterogeneous", "homogeneous")}
    gains = {variant: points(best[variant, prefix]) for variant in ("heterogeneous", "homogeneous")}
    claim = (
        "holds for these rules" if best["homogeneous", prefix] < 0.01 else "does **not** hold for these rules: they gain a point or more"
    )
    return (
        f"{begin}, with every yield known, 95 % of the URL pairs cost {saves['heterogeneous']} less load in the "
        f"heterogeneous Web and {saves['homogeneous']} less in the homogeneous one. The best of the three simple "
        f"rules, which know only the past, gains {gains['heterogeneous']} of coverage at equal load in the "
        f"one and {gains['homogeneous']} in the other. The claim that adaptive stopping gains nothing in {where} {claim}."
    )


def points(share):
    """A difference of shares in percentage points; no minus before a nought."""
    return f"{round(100 * share, 1) + 0.0:+.1f} points"


def percent(value, digits=1):
    return f"{100 * value:.{digits}f} %"


def table(head, rows):
    ruler = "|".join("---:" if column.startswith(">") else "---" for column in head)
    lines = [f"| {' | '.join(column.lstrip('>') for column in head)} |", f"|{ruler}|"]
    return "\n".join([*lines, *(f"| {' | '.join(map(str, row))} |" for row in rows)])
