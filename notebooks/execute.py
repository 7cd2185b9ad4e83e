"""Executes the notebooks beside it on a survey; `run --help` tells how."""

import argparse
import asyncio
import contextlib
import os
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from traitlets.config import Config

HERE = Path(__file__).resolve().parent
# A cell takes seconds on the demo survey; a hundred thousand sites take minutes.
TIMEOUT_S = 1800


def main():
    options = arguments()
    survey = options.survey.resolve()
    if not (survey / "tables").is_dir():
        sys.exit(f"notebooks/run: {options.survey} is no survey: `ccsurvey demo` makes one to try them on")
    os.environ["CCSURVEY_DIR"] = str(survey)
    paths = sorted(HERE.glob("*.ipynb"))
    with tempfile.TemporaryDirectory() as home:
        # Settings and history of whoever runs this have no part in it.
        os.environ["IPYTHONDIR"] = home
        notebooks = asyncio.run(execute_all(paths, home))
    faults = [fault for path, notebook in zip(paths, notebooks) for fault in judge(path, notebook, survey, options)]
    for fault in faults:
        print(f"notebooks/run: {fault}", file=sys.stderr)
    if faults:
        sys.exit(1)
    for path, notebook in zip(paths, notebooks):
        if options.write:
            nbformat.write(notebook, path)
        print(f"{path.name}: {len(code_cells(notebook))} cells run without an error")


def arguments():
    parser = argparse.ArgumentParser(prog="notebooks/run", description="Executes the notebooks on a survey.")
    parser.add_argument(
        "survey",
        metavar="DIR",
        nargs="?",
        type=Path,
        default=HERE.parent / "ccsurvey-demo",
        help="the folder of a survey [default: ccsurvey-demo in the top folder]",
    )
    parser.add_argument("--write", action="store_true", help="keep the outputs in the notebooks")
    parser.add_argument(
        "--same", action="store_true", help="fail when an output differs from the committed one, except in cells tagged `times`"
    )
    return parser.parse_args()


async def execute_all(paths, home):
    return await asyncio.gather(*(execute(path, f"{home}/{path.stem[:2]}") for path in paths))


async def execute(path, sockets):
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=TIMEOUT_S,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": str(HERE)}},
        # Sockets of files: no port is opened for it.
        config=Config(KernelManager={"transport": "ipc", "ip": sockets}),
    )
    # An error stands among the outputs, and nothing below it was run.
    with contextlib.suppress(CellExecutionError):
        await client.async_execute()
    # Which Python it was says nothing about the survey.
    notebook.metadata["language_info"] = {"name": "python"}
    return notebook


def judge(path, notebook, survey, options):
    """What is wrong with the outputs of a notebook that ran."""
    committed = {cell.id: cell for cell in code_cells(nbformat.read(path, as_version=4))}
    for cell in code_cells(notebook):
        said = texts(cell)
        for error in (output for output in cell.outputs if output.output_type == "error"):
            yield f"{path.name}, cell {cell.id}: fails with {error.ename}: {error.evalue}"
            return
        if any(output.output_type == "stream" and output.name == "stderr" for output in cell.outputs):
            yield f"{path.name}, cell {cell.id}: warns\n{said}"
        if str(survey) in said or str(Path.home()) in said:
            yield f"{path.name}, cell {cell.id}: a path of this machine is in its output"
        is_timed = "times" in cell.metadata.get("tags", [])
        if options.same and not is_timed and said != texts(committed[cell.id]):
            yield f"{path.name}, cell {cell.id}: says\n{said}\nand not, as committed,\n{texts(committed[cell.id])}"


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def texts(cell):
    """What a cell printed and showed, pictures apart."""
    streams = [output.text for output in cell.outputs if output.output_type == "stream"]
    shown = [output.data.get("text/plain", "") for output in cell.outputs if "data" in output]
    return "\n".join(streams + shown)


main()
