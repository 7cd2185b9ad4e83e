#!/usr/bin/env python3
"""Notes beside a page of reports/ what it was made with: date, revision, program, machine, the settings and worlds it speaks of,
and its small figure (figures.py).

    reports/stamp.py PAGE --program BIN --command WORDS --survey DIR …    stamps a page that its script has not stamped

Files that were made with the page (its data, its figures) are told with --file.

Writes PAGE.stamp.json (RESULTS.md: RESULTS.stamp.json) and puts its line at the head of the page. The settings and the world
of each survey are read from its folder; the defaults are those of the program. What was run without a folder that is
still there is told with --ran 'simulate WORLD DIR --depth 8', worlds that were served with --world FILE.

The scripts of reports/ do the same with `Stamp`; reports/check compares stamps with what the program has today. Needs
Python 3.9 and nothing else.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import shlex
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # No compiled scripts in the source tree.

import figures
from ccsurvey import PROJECT, Program, meaning

BEGIN = "*Made on "
STALE = "> **Stale**: "
# Folders and ports say nothing of how a survey is made.
OF_THE_MOMENT = re.compile(r"/|^127\.0\.0\.1:")
# What is the same for all worlds that differ by their seed alone.
SEED = re.compile(r"(?m)^seed = .*\n?")


def machine():
    """Cores, memory and system, in words."""
    info = pathlib.Path("/proc/cpuinfo")
    model = re.search(r"^model name\s*: (.*)$", info.read_text(), re.MULTILINE) if info.exists() else None
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    name = model[1] if model else platform.machine()
    return f"{os.cpu_count()} cores of {name}, {memory:.1f} GiB, {platform.system()} {platform.release()}"


def today():
    return datetime.datetime.now(datetime.timezone.utc).date().isoformat()


def git(*words):
    return subprocess.run(["git", *words], cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.strip()


def changed_last(file):
    """The commit that changed a file last."""
    return git("log", "-1", "--format=%h", "--abbrev=10", "--", str(file.resolve())) or "unknown"


def revision():
    """The commit of the sources, and whether they have changed since."""
    changed = git("status", "--porcelain", "--untracked-files=no", "--", "src", "data", "Cargo.toml", "Cargo.lock")
    return (git("rev-parse", "--short=10", "HEAD") or "unknown") + (" with changes" if changed else "")


def command_line():
    """How this script was called: its place in the project, and its words without the folders of this machine."""
    words = ["DIR" if word.startswith(("/", "~")) or pathlib.Path(word).is_dir() else word for word in sys.argv[1:]]
    return shlex.join([str(pathlib.Path(sys.argv[0]).resolve().relative_to(PROJECT)), *words])


def beside(page):
    """Where the stamp of a page is."""
    return page.with_name(f"{page.stem}.stamp.json")


def without_notes(text):
    """A page without what is noted on it: the line of its stamp, and that it is stale."""
    return "\n".join(line for line in text.split("\n") if not line.startswith((BEGIN, STALE)))


def without_banner(text):
    return re.sub(rf"\n\n{re.escape(STALE)}[^\n]*", "", text)


def banner(noted):
    """What a stale page says at its head."""
    return (
        f"{STALE}the numbers are those of revision `{noted['revision']}` ({noted['date']}), and the current program may make other numbers: "
        f"[why](../stale). `{noted['by']}` makes the page again."
    )


class Stamp:
    """What a page was made with; `program` is none where the page speaks of the sources alone."""

    def __init__(self, page, program, by=None, date=None, of_machine=None):
        self.page, self.program = pathlib.Path(page), Program(program) if program else None
        self.by, self.date, self.machine = by or command_line(), date or today(), of_machine or machine()
        self.revision = revision()
        self.commands, self.defaults, self.worlds = [], {}, {}
        # First, so that what cannot be stamped is not made for an hour.
        with tempfile.TemporaryDirectory(prefix="ccsurvey-figure-") as scratch:
            self.figure = figures.Figures(self.program, pathlib.Path(scratch)).of(figures.commands_of(self.page))

    def ran(self, words, survey=None):
        """A command whose settings the page speaks of. A survey that was kept has the settings of its own manifest."""
        words = [str(word) for word in words]
        command, *words = words[1:] if self.is_program(words[0]) else words
        given, others = self.parsed(command, words)
        manifest = manifest_of(survey) if survey else {"settings": {}}
        self.note(command, given, manifest["settings"])
        if command == "simulate":
            self.on(others[0])

    def is_program(self, word):
        return word == "ccsurvey" or pathlib.Path(word).resolve() == self.program.path

    def surveyed(self, folder):
        """A survey whose command nobody knows: what is not as the program has it by default was given."""
        manifest = manifest_of(folder)
        command = "simulate" if manifest.get("simulation") else "survey"
        defaults = self.program.defaults(command)
        given = {
            key: json.dumps(value).strip('"')
            for key, value in manifest["settings"].items()
            if key in defaults and not is_same(value, defaults[key])
        }
        self.note(command, given, {})
        if world := (manifest.get("simulation") or {}).get("world"):
            self.on(world)

    def parsed(self, command, words):
        """The flags that were given, and the other words."""
        flags, given, others, words = self.program.flags(command), {}, [], list(words)
        while words:
            word = words.pop(0)
            key, _, value = word[2:].partition("=")
            if not word.startswith("--"):
                others.append(word)
            elif "=" in word or not flags.get(key, (bool(words), None))[0]:
                given[key] = value or "true"
            else:
                given[key] = words.pop(0)
        return given, others

    def note(self, command, given, settings):
        """Notes what was given, and the default of each setting that was not; `settings` are those that held."""
        given = {key: "…" if OF_THE_MOMENT.search(value) else value for key, value in given.items()}
        if {"command": command, "given": given} not in self.commands:
            self.commands.append({"command": command, "given": given})
        left = self.defaults.setdefault(command, {})
        for key, default in self.program.defaults(command).items():
            if key not in given:
                held = settings.get(key, default)
                left[key] = default if is_same(held, default) else json.dumps(held).strip('"')

    def on(self, world):
        """A world the page speaks of: the name of one built in, or a file, of this project or written for the moment."""
        path = pathlib.Path(world)
        if not path.is_file():
            if path.suffix or len(path.parts) > 1:
                raise ValueError(f"{world}: the world of a survey is gone; tell it with --world FILE")
            return self.worlds.setdefault(str(world), ({}, self.program.world(str(world))))
        path = path.resolve()
        if PROJECT in path.parents:
            name = str(path.relative_to(PROJECT))
            return self.worlds.setdefault(name, ({"file": name}, self.program.world(path)))
        text = SEED.sub("", path.read_text())
        if not any(known.get("text") == text for known, _ in self.worlds.values()):
            alike = sum(name.startswith(path.name) for name in self.worlds)
            self.worlds[f"{path.name} ({alike + 1})" if alike else path.name] = ({"text": text}, self.program.world(path))

    @property
    def line(self):
        """What the page carries at its head."""
        program = f" with {self.program.version} (sha256 {self.program.sha256})" if self.program else ""
        note = f"[What it speaks of]({beside(self.page).name})"
        return f"{BEGIN}{self.date} of revision {self.revision} by `{self.by}`{program}; {self.machine}. {note}.*"

    def write(self, *files):
        """Writes the stamp of a page that is written, as the files are that were made with it."""
        alike = self.alike()
        own = {name: {key: value for key, value in values.items() if key not in alike} for name, (_, values) in self.worlds.items()}
        program = {"version": self.program.version, "sha256": self.program.sha256} if self.program else None
        noted = {
            "page": self.page.name,
            "date": self.date,
            "by": self.by,
            "program": program,
            "revision": self.revision,
            "machine": self.machine,
            "line": self.line,
            "commands": self.commands,
            "defaults": self.defaults,
            "worlds": {name: {**known, "values": own[name]} for name, (known, _) in self.worlds.items()},
            "values_of_all_worlds": alike,
            "figure": self.figure,
            "numbers": figures.digest_of_numbers(without_notes(self.page.read_text())),
            "files": {os.path.relpath(file, self.page.parent): figures.digest_of_file(pathlib.Path(file)) for file in files},
        }
        beside(self.page).write_text(json.dumps(noted, indent=1, ensure_ascii=False) + "\n")
        # It is no longer stale.
        page, stale = self.page.resolve(), self.page.resolve().parent.parent / "stale"
        if stale.is_file():
            lines = stale.read_text().splitlines(keepends=True)
            stale.write_text("".join(line for line in lines if not line.startswith(f"{page.relative_to(stale.parent)}: ")))

    def alike(self):
        """The values that all worlds of the page share."""
        each = [set(values.items()) for _, values in self.worlds.values()]
        return dict(sorted(set.intersection(*each))) if each else {}

    def mark(self):
        """Puts the line at the head of a page that was written without it, or with that of another time."""
        lines = without_banner(self.page.read_text()).split("\n")
        head = [number for number, line in enumerate(lines[:8]) if line.startswith(BEGIN)]
        lines[slice(head[0], head[0] + 1) if head else slice(1, 1)] = [self.line] if head else ["", self.line]
        self.page.write_text("\n".join(lines))


def manifest_of(folder):
    """The manifest of a survey; JSON says what each setting was."""
    return json.loads((pathlib.Path(folder) / "manifest.json").read_text())


def is_same(value, default):
    """Whether a setting of a manifest is what the help calls the default. Lists are told there in words only."""
    if isinstance(value, list):
        return meaning(default) is None
    return meaning(value) == meaning(default)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("--program", type=pathlib.Path, help="the program that made it; without it the page speaks of the sources")
    parser.add_argument("--command", required=True, help="the script that made it, with its flags")
    parser.add_argument("--survey", type=pathlib.Path, nargs="+", default=[], help="folders of the surveys that it is made from")
    parser.add_argument("--ran", action="append", default=[], help="a command of the program that it is made from; repeatable")
    parser.add_argument("--world", type=pathlib.Path, action="append", default=[], help="a world that it speaks of; repeatable")
    parser.add_argument("--file", type=pathlib.Path, action="append", default=[], help="a file that was made with it; repeatable")
    parser.add_argument("--date", help="when it was made [default: today]")
    parser.add_argument("--machine", help="where it was made [default: this one]")
    options = parser.parse_args()
    if not options.page.is_file():
        parser.error(f"{options.page} is no page")
    if not options.program and (options.survey or options.ran or options.world):
        parser.error("--program is needed to tell defaults and worlds")
    try:
        made = Stamp(options.page, options.program, options.command, options.date, options.machine)
        for world in options.world:
            made.on(world)
        for words in options.ran:
            made.ran(shlex.split(words))
        for survey in options.survey:
            made.surveyed(survey)
        made.mark()
        made.write(*options.file)
    except (OSError, ValueError, KeyError, figures.FigureError) as wrong:
        sys.exit(f"reports/stamp.py: {wrong}")


if __name__ == "__main__":
    main()
