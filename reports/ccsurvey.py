"""The program as the scripts of reports/ use it: built once, and asked what its defaults and its worlds are."""

import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

PROJECT = pathlib.Path(__file__).resolve().parent.parent
# What a world is beside its number keys; its seed is one draw of it.
OF_A_WORLD = ("country_domains", "date", "external_variant", "outside_suffixes", "registry_suffixes", "specification")
# A flag of `--help`, the value that it takes, and its text, which is further in.
FLAG = re.compile(r"(?m)^ {2,6}(?:-\w, )?--([a-z0-9-]+)(\S*(?: <\S+>)?).*\n((?:^ {8,}.*\n|^\s*\n)*)")


def built(*examples, profile="release"):
    """The program that $CCSURVEY names, or else the one that cargo builds now; examples are found beside it."""
    if named := os.environ.get("CCSURVEY"):
        program = pathlib.Path(named).resolve()
    else:
        wanted = [word for example in examples for word in ("--example", example)]
        cargo = ["cargo", "build", "--quiet", "--locked", "--bin", "ccsurvey", *wanted]
        subprocess.run(cargo + (["--release"] if profile == "release" else []), cwd=PROJECT, check=True)
        program = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", PROJECT / "target")).resolve() / profile / "ccsurvey"
    for needed in (program, *(example_of(program, example) for example in examples)):
        if not needed.is_file():
            sys.exit(f"{needed} is missing: $CCSURVEY names a built program, with its examples in the folder beside it")
    return program


def example_of(program, name):
    return program.parent / "examples" / name


def measured(arguments):
    """Runs a program to its end: what it said, and what it took, as the system tells it (wait4)."""
    with tempfile.TemporaryFile("w+") as said, tempfile.TemporaryFile("w+") as errors:
        started = time.monotonic()
        process = subprocess.Popen(arguments, stdout=said, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            errors.seek(0)
            sys.exit(f"{' '.join(map(str, arguments))} ended with {process.returncode}: {errors.read().strip()[-500:]}")
        said.seek(0)
        cost = {"wall_s": round(wall, 3), "cpu_s": round(usage.ru_utime + usage.ru_stime, 3), "peak_mib": usage.ru_maxrss // 1024}
        return said.read(), cost


class Program:
    """What a built program says of itself."""

    def __init__(self, path):
        self.path = pathlib.Path(path).resolve()

    def said(self, *words):
        done = subprocess.run([self.path, *words], capture_output=True, text=True)
        if done.returncode != 0:
            raise ValueError(f"ccsurvey {' '.join(map(str, words))}: {done.stderr.strip()[-500:]}")
        return done.stdout

    @functools.cached_property
    def version(self):
        return self.said("--version").strip()

    @functools.cached_property
    def sha256(self):
        return hashlib.sha256(self.path.read_bytes()).hexdigest()[:16]

    @functools.cache
    def flags(self, command):
        """Of each flag of a command, whether it takes the next word, and its default in the words of the help."""
        found = {}
        for flag, value, text in FLAG.findall(self.said(command, "--help")):
            defaults = re.findall(r"\[default: ([^\]]*)\]", " ".join(text.split()))
            found[flag] = (value.startswith(" <"), defaults[-1] if defaults else None)
        return found

    def defaults(self, command):
        return {flag: default for flag, (_, default) in self.flags(command).items() if default is not None}

    def world(self, name):
        """What a world is: the value of every key, as text."""
        file = pathlib.Path(name)
        return self.world_as_told(str(name), file.read_text() if file.is_file() else None)

    @functools.cache
    def world_as_told(self, name, _text):
        """The same, asked once for each text that a file has had: scripts write one world after another into the same file."""
        told = json.loads(self.said("space", "describe", name, "--json"))
        values = {key["key"]: key["value"] for key in told["keys"]}
        values.update((key, told[key]) for key in OF_A_WORLD if key in told)
        return {key: value if isinstance(value, str) else json.dumps(value) for key, value in values.items()}


UNITS = {
    "": 1,
    "ms": 1e-3,
    "s": 1,
    "m": 60,
    "h": 3600,
    "day": 86400,
    "days": 86400,
    "B": 1,
    "kB": 1e3,
    "MB": 1e6,
    "GB": 1e9,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
}


def meaning(value):
    """A value of a setting to be compared, however it is written; None where it sets nothing (`none`, `never`, in words)."""
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value).strip()
    amounts = re.findall(r"([\d.]+) ?([A-Za-z]*)(?: |$)", text)
    if amounts and " ".join(text.split()) in (" ".join(map("".join, amounts)), " ".join(map(" ".join, amounts))):
        if all(unit in UNITS for _, unit in amounts):
            return sum(float(number) * UNITS[unit] for number, unit in amounts)
    return None if value is None or value == [] or " " in text or text in ("none", "never", "all") else text


def is_off(value):
    """Whether a setting that has this value does nothing."""
    return meaning(value) in (None, "false", 0)
