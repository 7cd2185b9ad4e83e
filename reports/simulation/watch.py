"""Runs a command and samples its resident memory.

`watch.py PREFIX COMMAND …` writes PREFIX.memory.csv (seconds, MiB) and PREFIX.run.json (seconds of wall
and CPU time, greatest memory).
"""

import csv
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

EVERY_SECONDS = 2.0


def resident_mib(pid):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return None


def main():
    prefix, *command = sys.argv[1:]
    began = time.monotonic()
    running = subprocess.Popen(command)
    samples = []
    while True:
        try:
            running.wait(EVERY_SECONDS)
            break
        except subprocess.TimeoutExpired:
            try:
                memory = resident_mib(running.pid)
            except OSError:
                continue
            if memory is not None:
                samples.append((round(time.monotonic() - began, 1), round(memory, 1)))
    wall = time.monotonic() - began
    if running.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {running.returncode}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(f"{prefix}.memory.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["seconds", "resident_mib"])
        writer.writerows(samples)
    facts = {
        "command": command[1:],
        "wall_seconds": wall,
        "cpu_seconds": used.ru_utime + used.ru_stime,
        "peak_mib": used.ru_maxrss / 1024,
    }
    Path(f"{prefix}.run.json").write_text(json.dumps(facts, indent=2) + "\n")


main()
