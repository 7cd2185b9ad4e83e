"""Runs suites that others made against the shipped program: `tests/suites/run`."""

import argparse
import pathlib
import random
import sys
import tempfile
import time

import ccsurvey
import charsets
import comparing
import media_types
import refreshes
import reporting
import responses
import tokens
import trees
import urls
from cases import host_of
from surveying import survey

SUITES = (trees, tokens, urls, charsets, media_types, refreshes, responses)
# One survey holds so many: its folder and this script's memory stay small.
BATCH = 8000
# Of the large suites the quick run takes so many, drawn by a fixed seed.
QUICK = 100


def main():
    parser = argparse.ArgumentParser(prog="tests/suites/run", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a small fixed part of each suite, without a report")
    parser.add_argument("--only", metavar="WORDS", help="suites with these words in their name, without a report")
    parser.add_argument("--show", type=int, default=20, metavar="N", help="differences without a reason that are shown [20]")
    parser.add_argument(
        "--propose",
        metavar="FILE",
        type=pathlib.Path,
        help="write the unexplained differences as lines of differences.csv, each with what was expected and recorded",
    )
    options = parser.parse_args()
    program = ccsurvey.built(profile="debug" if options.quick else "release")
    if judge := list(trees.judge_differs()):
        sys.exit(f"the parser that judges pages differs from the trees of the suite: {judge[:3]}")
    began = time.monotonic()
    cases = chosen(options)
    print(f"tests/suites/run: {len(cases):,} cases after {time.monotonic() - began:.0f} s", flush=True)
    found = differences(program, cases)
    table = comparing.Explained()
    results = [(difference, table.reason(difference)) for difference in found]
    unexplained = [difference for difference, reason in results if reason is None]
    is_whole = not options.quick and not options.only
    seconds = time.monotonic() - began
    print(f"tests/suites/run: {len(found):,} differ, {len(unexplained):,} of these unexplained, after {seconds:.0f} s")
    reporting.show(unexplained[: options.show])
    if options.propose:
        reporting.propose(unexplained, options.propose)
    unused = table.unused() if is_whole else []
    for line in unused:
        print(f"differences.csv: {','.join(line)}: no case differs so any more: remove the line")
    if is_whole and not unexplained:
        reporting.write(program, cases, results)
    return 1 if unexplained or unused else 0


def chosen(options):
    """The cases of the suites that are asked for."""
    everything = [case for suite in SUITES for case in suite.cases() if not options.only or options.only in case.suite]
    if not options.quick:
        return everything
    by_suite = {}
    for case in everything:
        by_suite.setdefault(case.suite, []).append(case)
    return [case for suite in by_suite.values() for case in random.Random(0).sample(suite, min(QUICK, len(suite)))]


def differences(program, cases):
    found = []
    for start in range(0, len(cases), BATCH):
        batch = cases[start : start + BATCH]
        with tempfile.TemporaryDirectory(prefix="ccsurvey-suites-") as folder:
            recorded = survey(program, batch, pathlib.Path(folder))
        compared = (comparing.difference(case, host_of(number), seen) for number, (case, seen) in enumerate(zip(batch, recorded)))
        found += [difference for difference in compared if difference]
        print(f"tests/suites/run: {start + len(batch):,} surveyed, {len(found):,} differ", flush=True)
    return found


if __name__ == "__main__":
    sys.exit(main())
