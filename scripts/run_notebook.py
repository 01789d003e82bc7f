"""Runs a notebook's code cells, in order, in this process.

    .venv/bin/python scripts/run_notebook.py examples/11-spark-notebook.ipynb

Keeps what each printed in the notebook: the pictures that documents show are what the code does.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

Cell = dict[str, Any]


def code_cells(notebook: Path) -> list[Cell]:
    """In order."""
    told = json.loads(notebook.read_text())
    return [cell for cell in told["cells"] if cell["cell_type"] == "code"]


def stored(notebook: Path) -> list[str]:
    """What the notebook says that each of its code cells prints."""
    return ["".join(_text(cell)) for cell in code_cells(notebook)]


def _text(cell: Cell) -> list[str]:
    return [line for output in cell["outputs"] for line in output["text"]]


def printed(notebook: Path) -> list[str]:
    """What each of its code cells prints. Raises what a cell raises."""
    surroundings: dict[str, Any] = {"__name__": "__main__"}
    return [_run(cell, surroundings) for cell in code_cells(notebook)]


def _run(cell: Cell, surroundings: dict[str, Any]) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec("".join(cell["source"]), surroundings)  # noqa: S102 (that is what it is for)
    return out.getvalue()


def keep(notebook: Path, texts: list[str]) -> None:
    """Write these into the notebook, as the outputs of its code cells."""
    told = json.loads(notebook.read_text())
    cells = [cell for cell in told["cells"] if cell["cell_type"] == "code"]
    for number, (cell, text) in enumerate(zip(cells, texts, strict=True), 1):
        cell["execution_count"] = number
        cell["outputs"] = [_output(text)] if text else []
    notebook.write_text(json.dumps(told, indent=1) + "\n")


def _output(text: str) -> Cell:
    return {"name": "stdout", "output_type": "stream", "text": text.splitlines(keepends=True)}


if __name__ == "__main__":
    file = Path(sys.argv[1])
    keep(file, printed(file))
