"""Notebooks, run without Jupyter."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from project_scripts import load_script

script = load_script("run_notebook")


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    def code(*lines: str) -> dict[str, object]:
        source = [f"{line}\n" for line in lines]
        return {"cell_type": "code", "execution_count": None, "outputs": [], "source": source}

    cells = [
        code("from math import pi", "a = 2"),
        {"cell_type": "markdown", "source": ["print('never')"]},
        code("def twice():", "    print(a, pi > 3)", "    print(a)", "", "twice()"),
    ]
    made = tmp_path / "a.ipynb"
    made.write_text(json.dumps({"cells": cells, "nbformat": 4}))
    return made


def test_cells_run_in_order_and_what_they_print_is_kept(notebook: Path) -> None:
    assert script.stored(notebook) == ["", ""]
    found = script.printed(notebook)
    assert found == ["", "2 True\n2\n"]
    script.keep(notebook, found)
    assert script.stored(notebook) == found


def test_a_cell_that_fails_ends_it(notebook: Path) -> None:
    notebook.write_text(notebook.read_text().replace("a = 2", "a = nothing"))
    with pytest.raises(NameError):
        script.printed(notebook)


def test_the_pictures_in_the_documents_are_those_of_the_notebook() -> None:
    root = Path(__file__).parents[3]
    page, notebook = (root / "docs/spark.md").read_text(), root / "examples/11-spark-notebook.ipynb"
    cells = zip(script.code_cells(notebook), script.stored(notebook), strict=True)
    pictures = [
        f"```py\n{''.join(cell['source'])}\n```\n\n```text\n{text.rstrip()}\n```"
        for cell, text in cells
        if text
    ]
    assert pictures
    assert [each for each in pictures if each not in page] == []
