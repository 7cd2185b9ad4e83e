"""Writes RESULTS.md, runs.csv and memory.csv of reports/simulation from what `run` left in its folder.

`summarise.py HERE WORK PROGRAM RUN …`; every RUN begins with its name.
"""

import csv
import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # No compiled scripts in the source tree.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from stamp import Stamp

TABLES = ("exchanges", "links", "levels", "sites", "servers")


def mebibytes(folder):
    return sum(path.stat().st_size for path in folder.glob("*.parquet")) / 2**20


def tenths(samples):
    """The greatest memory in each tenth of the run."""
    if not samples:
        return []
    last = samples[-1][0]
    parts = [[] for _ in range(10)]
    for seconds, memory in samples:
        parts[min(9, int(seconds / last * 10))].append(memory)
    return [max(part) if part else None for part in parts]


def read_samples(path):
    with open(path, newline="") as file:
        return [(float(row["seconds"]), float(row["resident_mib"])) for row in csv.DictReader(file)]


def days(seconds):
    return f"{seconds / 86400:.1f} days"


def describe(work, name):
    facts = json.loads((work / f"{name}.run.json").read_text())
    manifest = json.loads((work / name / "manifest.json").read_text())
    status = json.loads((work / name / "status.json").read_text())
    samples = read_samples(work / f"{name}.memory.csv")
    parts = tenths(samples)
    sizes = {table: mebibytes(work / name / "tables" / table) for table in TABLES}
    rows = {table: manifest["tables"][table]["rows"] for table in TABLES}
    second = [memory for memory in parts[5:] if memory is not None]
    return {
        "name": name,
        "words": facts["command"],
        "command": "ccsurvey " + " ".join(Path(word).name if "/" in word else word for word in facts["command"]),
        "wall": facts["wall_seconds"],
        "cpu": facts["cpu_seconds"],
        "peak": facts["peak_mib"],
        "pages": status["pages"],
        "requests": status["requests"],
        "sites": status["sites_done"],
        "simulated": status["active_seconds"],
        "received": status["received_bytes"],
        "tenths": parts,
        "growth": max(second) / min(second) - 1 if second else None,
        "sizes": sizes,
        "rows": rows,
    }


def section(run):
    lines = [
        f"## {run['name']}",
        "",
        f"    {run['command']}",
        "",
        "| | |",
        "|---|---|",
        f"| sites | {run['sites']:,} |",
        f"| pages | {run['pages']:,} |",
        f"| requests | {run['requests']:,} |",
        f"| received by the simulated survey | {run['received'] / 1e9:.1f} GB |",
        f"| the survey would take | {days(run['simulated'])} |",
        f"| the simulation took | {run['wall'] / 60:.1f} minutes, {run['cpu'] / 60:.1f} CPU minutes |",
        f"| pages per second | {run['pages'] / run['wall']:,.0f} |",
        f"| peak memory | {run['peak']:.0f} MiB |",
    ]
    if run["growth"] is not None:
        lines.append(f"| highest over lowest tenth of the second half | {run['growth']:+.1%} |")
    lines += ["", "| table | rows | size |", "|---|---:|---:|"]
    lines += [f"| {table} | {run['rows'][table]:,} | {run['sizes'][table]:,.1f} MiB |" for table in TABLES]
    memory = " ".join("–" if part is None else f"{part:.0f}" for part in run["tenths"])
    lines += ["", f"Peak resident memory in each tenth of the run, MiB: {memory}", ""]
    return lines


def main():
    here, work, program, *runs = sys.argv[1:]
    here, work = Path(here), Path(work)
    described = [describe(work, run.split()[0]) for run in runs]
    made = Stamp(here / "RESULTS.md", program, "reports/simulation/run")
    for run in described:
        made.ran(run["words"], work / run["name"])
    lines = [
        "# Large worlds, simulated",
        "",
        made.line,
        "",
        "A script writes this whole page. Times were measured on a shared machine; memory and counts do not depend on it.",
        "",
    ]
    for run in described:
        lines += section(run)
    (here / "RESULTS.md").write_text("\n".join(lines).rstrip() + "\n")
    with open(here / "memory.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["run", "seconds", "resident_mib"])
        for run in described:
            for seconds, memory in read_samples(work / f"{run['name']}.memory.csv"):
                writer.writerow([run["name"], seconds, memory])
    made.write(here / "memory.csv")


main()
