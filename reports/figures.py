"""The small figure of each page of reports/: the output of commands that take a second, by the rules that make the page's numbers.

reports/small-figures lists them, `PAGE: COMMAND`; a page may have several lines, which are run in their order. A COMMAND is
one of ccsurvey (`simulate WORLD DIR --depth 3`), without traffic, clock or chance, so that the same program gives the same
output everywhere. Words in capitals are folders of the moment. WORLD@N is the world with N sites. `sources PATH …` stands
for pages whose numbers no such command gives: it sums up the code of these files, comments and layout left out; of PATH:NAME it
takes the constant of this name. `PAGE: apart from FACT …` names facts of its commands that no number of the page follows from.
"""

from __future__ import annotations

import concurrent.futures
import hashlib
import json
import math
import pathlib
import re
import shlex
import subprocess
import threading
from collections.abc import Iterator

from ccsurvey import PROJECT, Program

LIST = "small-figures"
APART = "apart from "
# A figure is of seconds with the program as `cargo build` makes it, which takes a few milliseconds a request.
MOST_REQUESTS = 2_000
FOLDER_WORD = re.compile(r"[A-Z]+")
# Exit codes of commands that did what they should: done, a promise broken, no depth fits.
DONE = (0, 3, 4)
# Libraries of mathematics differ in the last digits.
DIGITS = 1e-9

Outcome = dict[str, object]


class FigureError(ValueError):
    """A figure that cannot be made, or a page that has none."""


def listed(folder: pathlib.Path) -> dict[str, list[str]]:
    """The commands of each page of a folder of reports."""
    commands: dict[str, list[str]] = {}
    for page, command in lines(folder):
        if not command.startswith(APART):
            commands.setdefault(page, []).append(command)
    return commands


def apart_from(page: pathlib.Path) -> set[str]:
    """What of its small figure a page does not speak of."""
    folder = page.resolve().parent.parent
    name = str(page.resolve().relative_to(folder))
    return {fact for of, command in lines(folder) if of == name and command.startswith(APART) for fact in command[len(APART) :].split()}


def lines(folder: pathlib.Path) -> Iterator[tuple[str, str]]:
    """Pages of a folder of reports, and what is listed of each."""
    for line in (folder / LIST).read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            page, _, command = line.partition(": ")
            yield page, command


def commands_of(page: pathlib.Path) -> list[str]:
    """The commands of a page, which stands in a folder of a folder of reports; none where that has no list."""
    folder = page.resolve().parent.parent
    if not (folder / LIST).is_file():
        return []
    name = str(page.resolve().relative_to(folder))
    found = listed(folder).get(name)
    if not found:
        raise FigureError(missing(name))
    return found


def missing(name: str) -> str:
    return (
        f"reports/{name}: has no small figure: add a line `{name}: COMMAND` to reports/{LIST}, with a command of ccsurvey that takes a second "
        f"and whose output follows from the same rules as the numbers of the page (`simulate demo@5 DIR --depth 2`); then make the page again"
    )


def flat(value: object, at: str = "") -> Iterator[tuple[str, object]]:
    """The numbers of a JSON value and the verdicts on promises, each with its path; of lists and maps of counts also how many there are."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from flat(part, f"{at}.{key}" if at else key)
        if at and value and all(type(part) is int for part in value.values()):
            yield f"{at}, in all", sum(value.values())
    elif isinstance(value, list):
        yield f"{at}, number of", len(value)
        for number, part in enumerate(value):
            name = part.get("depth", part.get("id", number)) if isinstance(part, dict) else number
            yield from flat(part, f"{at}.{name}")
    elif isinstance(value, (bool, int, float)) or at.endswith(".verdict"):
        yield at, value


class Figures:
    """Runs commands of small figures in a folder, each once: pages share what they have in common."""

    def __init__(self, program: Program | None, scratch: pathlib.Path) -> None:
        self.program, self.scratch = program, scratch
        self.runs: dict[str, concurrent.futures.Future[Outcome]] = {}
        self.lock = threading.Lock()

    def of(self, commands: list[str]) -> dict[str, Outcome]:
        """What each command gives."""
        folders: dict[str, str] = {}
        outcomes = {}
        for command in commands:
            words = shlex.split(command)
            # A folder is known by the command that makes it, whatever the page calls it.
            new = [word for word in words if FOLDER_WORD.fullmatch(word) and word not in folders]
            key = shlex.join(folders.get(word, "NEW" if word in new else word) for word in words)
            folders.update((word, str(self.scratch / hashlib.sha256(key.encode()).hexdigest()[:16])) for word in new)
            outcomes[command] = self.once(command, key, [folders.get(word, word) for word in words])
        return outcomes

    def once(self, command: str, key: str, words: list[str]) -> Outcome:
        with self.lock:
            is_first = key not in self.runs
            run = self.runs.setdefault(key, concurrent.futures.Future())
        if is_first:
            try:
                run.set_result(self.run(command, words))
            except Exception as wrong:  # Whoever waits for it is told.
                run.set_exception(wrong)
        return run.result()

    def run(self, command: str, words: list[str]) -> Outcome:
        if words[0] == "sources":
            return {path: constant(path) if ":" in path else digest_of_code(path) for path in words[1:]}
        if not self.program:
            raise FigureError(f"`{command}`: the page is made without a program; expected `sources PATH …`")
        words = [self.world(word) for word in words]
        words += ["--json"] if words[0] == "simulate" and "--json" not in words else []
        done = subprocess.run([self.program.path, *words], cwd=PROJECT, capture_output=True, text=True)
        if done.returncode not in DONE:
            raise FigureError(f"`{command}` ends with {done.returncode}: {done.stderr.strip()[-300:]}")
        outcome: Outcome = {"exit code": done.returncode}
        try:
            outcome.update(flat(json.loads(done.stdout)))
        except ValueError:
            text = done.stdout.replace(f"{self.scratch}/", "")
            outcome.update((f"line {number}", line.rstrip()) for number, line in enumerate(text.splitlines(), 1))
        if (requests := outcome.get("requests", 0)) > MOST_REQUESTS:
            raise FigureError(
                f"`{command}` takes {requests:,} requests: expected {MOST_REQUESTS:,} at most, so that all small figures take seconds"
            )
        return outcome

    def world(self, word: str) -> str:
        """The file of WORLD@N; any other word as it is."""
        name, _, count = word.partition("@")
        if not count.isdigit():
            return word
        file = PROJECT / name
        text = file.read_text() if file.is_file() else f'profile = "{name}"\n'
        text, changed = re.subn(r"(?m)^count = .*$", f"count = {count}", text, count=1)
        if not changed:
            text, changed = re.subn(r"(?m)^\[sites\]\n", f"[sites]\ncount = {count}\n", text, count=1)
        if not changed:
            text += f"\n[sites]\ncount = {count}\n"
        world = self.scratch / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.toml"
        world.write_text(text)
        return str(world)


# What says only where code stands: imports, modules, visibilities and the way to a name.
PLACES = (
    r"(?ms)^[ \t]*(?:pub(?:\([^)]*\))? )?(?:use [^;]+|mod \w+);",
    r"\bpub\b(?:\([^)]*\))?|#\[must_use\]",
    r"\b(?:crate|super|self)::(?:[a-z0-9_]+::)*",
)


def digest_of_code(path: str) -> str:
    """Of a file of the project, or of all code in a folder: comments on lines of their own and white space left out, and of Rust also what
    a move changes.
    """
    file = PROJECT / path
    files = [file] if file.is_file() else sorted(part for part in file.rglob("*") if part.suffix in (".rs", ".py", ".toml"))
    if not files:
        raise FigureError(f"`sources {path}`: no such code")
    digest = hashlib.sha256()
    for part in files:
        digest.update(f"{part.relative_to(file)}\n{code_of(part.read_text(), part.suffix)}\n".encode())
    return digest.hexdigest()[:16]


def code_of(text: str, suffix: str) -> str:
    code = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith(("//", "#!", "# ")))
    for place in PLACES if suffix == ".rs" else ():
        code = re.sub(place, "", code)
    code = "".join(code.split())
    # Where a line got too long.
    return re.sub(r",(?=[)\]}>])", "", code) if suffix == ".rs" else code


def constant(path: str) -> str:
    """The value of PATH:NAME, as the code has it."""
    file, _, name = path.partition(":")
    found = re.search(rf"(?m)^\s*(?:pub(?:\(\w+\))? )?const {name}: [^=]*=(.*?);$", (PROJECT / file).read_text(), re.DOTALL)
    if not found:
        raise FigureError(f"`sources {path}`: no such constant")
    return " ".join(found[1].split())


def is_same(was: object, now: object) -> bool:
    if isinstance(was, float) and isinstance(now, (int, float)):
        return math.isclose(was, now, rel_tol=DIGITS, abs_tol=DIGITS)
    return was == now


def differences(then: dict[str, Outcome], now: dict[str, Outcome], apart: set[str]) -> Iterator[str]:
    """What of earlier outcomes is another now, apart from some facts. What outcomes have beside those tells of no change."""
    for command, outcome in then.items():
        today = now[command]
        found = [(key, was, today.get(key)) for key, was in outcome.items() if key not in apart and not is_same(was, today.get(key))]
        if found:
            shown = "; ".join(f"{key} was {told(was)}, is {told(value)}" for key, was, value in found[:2])
            rest = f"; and {len(found) - 2} more" if len(found) > 2 else ""
            yield f"`{command}`: {shown}{rest}"


def told(value: object) -> str:
    return f"{value:,}" if type(value) is int else "nothing" if value is None else str(value)


def digest_of_numbers(text: str) -> str:
    """The numbers of a page, so that its words may be mended and no number may be."""
    return hashlib.sha256(" ".join(re.findall(r"\d+(?:[.,]\d+)*", text)).encode()).hexdigest()[:16]


def digest_of_file(file: pathlib.Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:16]
