"""Whether every reader can do everything with every table, and comes to the same results.

`matrix.py SURVEY …` runs `operations.py` with each reader that `versions.txt` names, and with polars and DuckDB. tests/setup
installs them. reports/readers/run makes a page of the same.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ccsurvey"


def folders():
    """Where the readers of versions.txt are, and None for the Python environment itself."""
    lines = (HERE / "versions.txt").read_text().splitlines()
    for line in lines:
        if line and not line.startswith("#"):
            folder = CACHE / "readers" / line.split()[0].replace("==", "-")
            if not (folder / "installed").exists():
                sys.exit(f"{folder} is missing: run tests/setup first")
            yield folder
    yield None


def rows(survey):
    """A row for each reader, table and operation; `error` where it failed or where its result differs from the others'."""
    found = []
    for folder in folders():
        # Time zones are in the folder too: a machine may have none.
        environment = os.environ | ({"PYTHONPATH": str(folder)} if folder else {})
        command = [sys.executable, "-B", str(HERE / "operations.py"), str(survey)]
        run = subprocess.run(command, capture_output=True, text=True, env=environment)
        if run.returncode != 0:
            sys.exit(f"{folder or 'polars and DuckDB'}: {run.stderr[-2000:]}")
        found += json.loads(run.stdout)
    expected = {(row["table"], row["operation"]): row["result"] for row in found if row["reader"].startswith("DuckDB") and "result" in row}
    for row in found:
        wanted = expected.get((row["table"], row["operation"]))
        if "result" in row and row["result"] != wanted:
            row["error"] = f"{row['result']}, where DuckDB has {wanted}"
    return found


def main():
    for survey in sys.argv[1:]:
        found = rows(survey)
        wrong = [row for row in found if "error" in row]
        for row in wrong:
            print(f"{row['reader']}: {row['operation']} {row['table']}: {row['error']}")
        names = {key: sorted({row[key] for row in found}) for key in ("reader", "table", "operation")}
        counts = " x ".join(f"{len(names[key])} {key}s" for key in names)
        print(f"{counts}: {len(found) - len(wrong)} of {len(found)} work")
        if wrong or len(found) != len(names["reader"]) * len(names["table"]) * len(names["operation"]):
            sys.exit(1)


if __name__ == "__main__":
    main()
