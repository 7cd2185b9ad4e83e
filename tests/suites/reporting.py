"""Shows differences, proposes lines for their table, and writes reports/suites/RESULTS.md."""

import collections
import csv
import html

import comparing
from stamp import PROJECT, Stamp
from surveying import command

PAGE = PROJECT / "reports" / "suites" / "RESULTS.md"
# What a reason says of the program, in the order of the columns.
KINDS = {
    "fault": "the program should do what the suite says, and does not",
    "limit": "the program reads less than a browser, because DNS or a library cannot carry it",
    "harmless": "no link of the document is lost, no name is wrong",
    "suite": "the suite is older than the standard",
}

INTRODUCTION = """Each case of a suite is the front page of a host of its own on loopback; the program surveys them all, and
what its tables have of links, title, charset, status and failure is compared with what the suite expects. Only the
reasons are written by hand (`tests/suites/reasons.csv`), and which difference has which (`tests/suites/differences.csv`).
A difference without a reason makes `tests/suites/run` fail, and so does a line of that table that no case needs any more."""
NOTES = """No package carries WPT's cases of types in several fields, `Content-Length` and refreshes. The cases called *own*
stand in for them: they are written for this project from the text of the standards (`tests/suites/own`).

Where a suite has no tree for a page (links planted, mixed, tokenizer), another parser tells what the page holds. The same
run compares that parser with every tree of the suites, without a difference in links and titles."""


def show(unexplained):
    for found in unexplained:
        print(
            f"  {found.case.suite}, {found.case.name}: {found.kind}\n    input:    {found.case.shown[:300]!r}\n"
            f"    expected: {found.expected!r:.300}\n    recorded: {found.recorded!r:.300}"
        )


def propose(unexplained, path):
    """Lines of differences.csv that still lack a reason, with what tells it."""
    with path.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["suite", "case", "kind", "reason", "input", "expected", "recorded"])
        for found in unexplained:
            table.writerow(
                [
                    found.case.suite,
                    found.case.name,
                    found.kind,
                    "",
                    found.case.shown[:500],
                    repr(found.expected)[:300],
                    repr(found.recorded)[:300],
                ]
            )


def write(program, cases, results):
    made = Stamp(PAGE, program, by="tests/suites/run")
    # Two addresses of the moment, which the stamp leaves out.
    made.ran([program, *command("DIR", "starts.txt", "127.0.0.1:53", "127.0.0.1:80")])
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(made.line, cases, results))
    made.write()


def page(line, cases, results):
    sentences = comparing.reasons()
    totals = collections.Counter(case.suite for case in cases)
    sources = {case.suite: case.source for case in cases}
    by_suite, by_reason = collections.defaultdict(collections.Counter), collections.Counter()
    for difference, word in results:
        by_suite[difference.case.suite][word] += 1
        by_reason[word] += 1
    examples = {}
    for difference, word in results:
        examples.setdefault(word, difference)
    return "\n".join(
        [
            "# Suites of others",
            "",
            line,
            "",
            INTRODUCTION,
            "",
            "| suite | from | cases | same | different | of these faults | by reason |",
            "|---|---|---|---|---|---|---|",
            *(counts(suite, sources[suite], totals[suite], by_suite[suite], sentences) for suite in totals),
            counts("all", "", totals.total(), by_reason, sentences),
            "",
            NOTES,
            "",
            "## Reasons",
            "",
            *(f"- *{kind}*: {meaning}" for kind, meaning in KINDS.items()),
            "",
            "| reason | kind | differences | why | an example |",
            "|---|---|---|---|---|",
            *(
                row(f"`{word}`", sentences[word].kind, count, sentences[word].sentence, example(examples[word]))
                for word, count in by_reason.most_common()
            ),
            "",
        ]
    )


def counts(suite, source, cases, found, sentences):
    faults = sum(count for word, count in found.items() if sentences[word].kind == "fault")
    by_reason = ", ".join(f"{count:,} `{word}`" for word, count in found.most_common())
    return row(suite, source, cases, cases - found.total(), found.total(), faults, by_reason)


def example(difference):
    shown = difference.case.shown if len(difference.case.shown) <= 110 else difference.case.shown[:109] + "…"
    shown = shown.encode("unicode_escape").decode()
    return f"<code>{html.escape(shown).replace('|', '&#124;').replace('`', '&#96;')}</code> ({difference.kind})"


def row(*cells):
    return "| " + " | ".join(f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in cells) + " |"
