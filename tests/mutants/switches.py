"""Puts many mutants into one copy of the sources, each behind a switch that is thrown when the program runs."""

import bisect
import collections
import json
import pathlib
import re
import subprocess
from typing import NamedTuple

# What stands where no code is: comments, texts and characters.
NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|b?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?\'(?:\\.[^\']*|[^\'\\])\'', re.DOTALL)
LOWEST = "src/address/lib.rs"
IS_ON = "switch::is_on"
# At the end of the lowest package; the others name it. The number of a mutant is noted once by each process that reaches it.
SWITCH = """
#[allow(missing_docs)]
pub mod switch {
    use std::io::Write;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, Ordering};

    static ON: OnceLock<(usize, Option<String>)> = OnceLock::new();
    static REACHED: [AtomicBool; COUNT] = [const { AtomicBool::new(false) }; COUNT];

    pub fn is_on(mutant: usize) -> bool {
        let (on, noted) = ON.get_or_init(|| {
            let on = std::env::var("MUTANT_ON").ok().and_then(|number| number.parse().ok());
            (on.unwrap_or(usize::MAX), std::env::var("MUTANTS_REACHED").ok())
        });
        if let Some(file) = noted && !REACHED[mutant].swap(true, Ordering::Relaxed) {
            let mut file = std::fs::OpenOptions::new().append(true).create(true).open(file).unwrap();
            file.write_all(format!("{mutant}\\n").as_bytes()).unwrap();
        }
        *on == mutant
    }
}
"""


class Mutant(NamedTuple):
    """One change to a line of code: `body` is where the body of its function begins and ends in the file, `span` where the change is made."""

    package: str
    file: str
    line: int
    change: str
    code: str
    body: tuple
    span: tuple
    replacement: str


def listed(cargo_mutants, top):
    """The mutants that a switch can hold, of each package how many others there are, and the files as they are now."""
    words = [cargo_mutants, "mutants", "--list", "--json", "--workspace", "--no-shuffle", "--dir", top]
    found, others, sources = [], collections.Counter(), {LOWEST: Source((top / LOWEST).read_text())}
    for told in json.loads(subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout):
        if told["file"].startswith("tests/") or told["file"].startswith("reports/"):
            continue
        if told["file"] not in sources:
            sources[told["file"]] = Source((top / told["file"]).read_text())
        source, function = sources[told["file"]], told["function"]
        body = function and source.body(*source.span(function["span"]))
        # Two bodies of one function give the same type only where the type has a name, and no switch is constant.
        if not body or re.search(r"\bimpl\b", function["return_type"]):
            others[told["package"]] += 1
            continue
        change = told["name"].split(": ", 1)[1]
        line, span = told["span"]["start"]["line"], source.span(told["span"])
        code = source.text.split("\n")[line - 1].strip()
        found.append(Mutant(told["package"], told["file"], line, change, code, body, span, told["replacement"]))
    return found, others, sources


class Source:
    """A file, and where its lines begin."""

    def __init__(self, text):
        self.text = text
        self.code = NO_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
        self.lines = [0] + [place.end() for place in re.finditer("\n", text)]

    def span(self, told):
        return tuple(self.lines[told[end]["line"] - 1] + told[end]["column"] - 1 for end in ("start", "end"))

    def body(self, start, end):
        """What stands between the braces of a function; none where it is constant."""
        head = re.compile(r"\bfn\b").search(self.code, start, end)
        if re.search(r"\bconst\b", self.code[start : head.start()]):
            return None
        depth = 0
        for place in range(head.end(), end):
            depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(self.code[place], 0)
            if self.code[place] == "{" and depth == 0:
                return place + 1, self.code.rindex("}", place, end)
        return None


def apart(mutants):
    """Of the mutants, in their order, those whose functions are the same or do not lie in each other."""
    taken, bodies = [], {}
    for mutant in mutants:
        of_file = bodies.setdefault(mutant.file, set())
        if mutant.body in of_file or all(mutant.body[1] < start or end < mutant.body[0] for start, end in of_file):
            of_file.add(mutant.body)
            taken.append(mutant)
    return taken


def switched(text, mutants, in_lowest):
    """The file with a body for each of its mutants (number and mutant) before the body that it has, and the lines of each new body."""
    pieces, lines, last = [], [], 0
    is_on = f"crate::{IS_ON}" if in_lowest else f"ccsurvey_address::{IS_ON}"
    for body in sorted({mutant.body for _, mutant in mutants}):
        pieces.append(text[last : body[0]] + "\n")
        for number, mutant in mutants:
            if mutant.body == body:
                begin = sum(piece.count("\n") for piece in pieces)
                changed = text[body[0] : mutant.span[0]] + mutant.replacement + text[mutant.span[1] : body[1]]
                pieces.append(f"if {is_on}({number}) {{{changed}\n}} else\n")
                lines.append((begin + 1, begin + changed.count("\n") + 2, number))
        pieces.append("{" + text[body[0] : body[1]] + "}\n")
        last = body[1]
    return "".join(pieces) + text[last:], sorted(lines)


def write(copy, sources, mutants, left_out):
    """Writes the sources of the copy with all mutants but those left out; gives which mutant the lines of each file are of."""
    places, of_file = {}, {LOWEST: []}
    for number, mutant in enumerate(mutants):
        of_file.setdefault(mutant.file, [])
        if number not in left_out:
            of_file[mutant.file].append((number, mutant))
    for file, own in of_file.items():
        text, places[file] = switched(sources[file].text, own, file.startswith(str(pathlib.Path(LOWEST).parent)))
        if file == LOWEST:
            text += SWITCH.replace("COUNT", str(max(1, len(mutants))))
        # What has not changed is not built again.
        if (copy / file).read_text() != text:
            (copy / file).write_text(text)
    return places


def of_errors(messages, places):
    """The mutants to which the errors of a compiler belong, and the errors that belong to none."""
    numbers, others = set(), []
    for message in messages:
        here = [
            (span["is_primary"], at_line(places.get(span["file_name"], []), span["line_start"], span["line_end"]))
            for span in message["spans"]
        ]
        found = set().union(*(own for is_primary, own in here if is_primary)) or set().union(*(own for _, own in here))
        numbers |= found
        if not found:
            others.append(message.get("rendered") or message["message"])
    return numbers, others


def at_line(lines, first, last):
    begin = max(0, bisect.bisect_right(lines, (first, float("inf"))) - 1)
    return {number for start, end, number in lines[begin:] if start <= last and first <= end}
