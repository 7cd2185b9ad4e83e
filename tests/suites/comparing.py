"""What a survey recorded against what a suite expects, and the table of differences that are known."""

import csv
import fnmatch
import pathlib
from typing import NamedTuple

HERE = pathlib.Path(__file__).parent
DIFFERENCES = HERE / "differences.csv"
REASONS = HERE / "reasons.csv"


class Difference(NamedTuple):
    """A case that is not as its suite expects, and how."""

    case: object
    kind: str
    expected: object
    recorded: object


class Known(NamedTuple):
    """A line of the table: cases of a suite by a pattern of their names, a kind of difference, and why it is so."""

    suite: str
    name: str
    kind: str
    reason: str


def difference(case, host, seen):
    """The first thing that differs, if any."""
    for kind, is_same, expected, recorded in looked_at(case, host, seen):
        if not is_same:
            return Difference(case, kind_of(kind, expected, recorded), expected, recorded)
    return None


def looked_at(case, host, seen):
    found = {**seen._asdict(), "fails": seen.failure is not None}
    for kind, expected in case.expected.items():
        if kind == "links":
            expected = [url.replace("{host}", host) for url in expected]
        recorded = found[kind]
        is_same = recorded == expected if kind != "charset" else (recorded or "").lower() == expected.lower()
        yield kind, is_same, expected, seen.failure if kind == "fails" and recorded else recorded


def kind_of(kind, expected, recorded):
    """Links are lost, or there are more, or both, or the same stand in another order."""
    if kind != "links":
        return kind
    lost, more = set(expected) - set(recorded), set(recorded) - set(expected)
    return {(True, True): "other links", (True, False): "fewer links", (False, True): "more links"}.get(
        (bool(lost), bool(more)), "another order"
    )


def known_differences():
    with DIFFERENCES.open(newline="") as table:
        return [Known(*row) for row in list(csv.reader(table))[1:]]


class Reason(NamedTuple):
    """`kind` is one of `reporting.KINDS`."""

    kind: str
    sentence: str


def reasons():
    """What each word of the table means."""
    with REASONS.open(newline="") as table:
        return {word: Reason(kind, sentence) for word, kind, sentence in list(csv.reader(table))[1:]}


class Explained:
    """Finds the reason for a difference, and which lines of the table none needed."""

    def __init__(self):
        self.lines, self.used, self.exact, self.patterns = known_differences(), set(), {}, []
        meanings = reasons()
        for line in self.lines:
            if line.reason not in meanings:
                raise ValueError(f"differences.csv: {','.join(line)}: expected a reason of reasons.csv")
            if any(letter in line.name for letter in "*?["):
                self.patterns.append(line)
            else:
                self.exact[line.suite, line.name, line.kind] = line

    def reason(self, found):
        line = self.exact.get((found.case.suite, found.case.name, found.kind)) or next(
            (
                line
                for line in self.patterns
                if line.suite == found.case.suite and line.kind == found.kind and fnmatch.fnmatchcase(found.case.name, line.name)
            ),
            None,
        )
        if line is None:
            return None
        self.used.add(line)
        return line.reason

    def unused(self):
        return [line for line in self.lines if line not in self.used]
