"""What commands print: answers on standard output, everything else on standard error.

Colour and rules only where a person looks. Into a pipe go plain lines, never cut to a width, and
tables with a tab between two cells.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.markup import escape
from rich.table import Table

PIPE_WIDTH = 10_000
MOST_STYLED = 500
"""Rows of a table with colours and rules. Each costs a millisecond: many are only aligned."""
STATE_STYLES = {
    "RUNNING": "green",
    "FAILED": "bold red",
    "PAUSED": "yellow",
    "STOPPED": "yellow",
    "RESTARTING": "cyan",
    "UNASSIGNED": "dim",
}


class Format(StrEnum):
    """How answers are printed."""

    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"


Output = Annotated[
    Format,
    typer.Option(
        "-o",
        "--output",
        help="table; json: a list of objects; jsonl: one object per line.",
    ),
]


def console(*, stderr: bool = False) -> Console:
    """A console for a person if there is one, else for a pipe."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else PIPE_WIDTH
    return Console(stderr=stderr, width=width, highlight=False)


def say(text: str) -> None:
    """Print a line of plain text."""
    console().print(escape(text), soft_wrap=True)


def warn(text: str) -> None:
    """Print a line on standard error."""
    console(stderr=True).print(f"[yellow]{escape(text)}[/]", soft_wrap=True)


def print_objects(output: Format, objects: Iterable[Any]) -> bool:
    """Write them as JSON if that is the format; whether it is."""
    if output is Format.JSON:
        print_json(list(objects))
    elif output is Format.JSONL:
        for each in objects:
            sys.stdout.write(compact(each) + "\n")
    return output is not Format.TABLE


def print_json(value: Any) -> None:
    """Print JSON as a program likes it, and a person can still read it."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """A table for people; words that are states are coloured."""
    made = Table(*headings, box=SIMPLE_HEAD, pad_edge=False)
    for row in rows:
        made.add_row(*(styled(cell) for cell in row))
    return made


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table."""
    every = list(rows)
    if not sys.stdout.isatty():
        for line in [headings, *every]:
            sys.stdout.write("\t".join(line) + "\n")
    elif len(every) > MOST_STYLED:
        _print_aligned([headings, *every])
    else:
        console().print(table(headings, every))


def _print_aligned(lines: Sequence[Sequence[str]]) -> None:
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = map(set_cell_size, line, widths)
        sys.stdout.write("  ".join(cells).rstrip() + "\n")


def count_of(number: int, noun: str) -> str:
    """How many, in English: `1 task`, `2 tasks`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def styled(text: str) -> str:
    """Markup for a plain text, coloured if it is a state."""
    style = STATE_STYLES.get(text)
    return f"[{style}]{text}[/]" if style else escape(text)


def compact(value: Any) -> str:
    """JSON in a line."""
    return json.dumps(value, ensure_ascii=False)
