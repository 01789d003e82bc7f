"""Tables in a terminal: no line is longer than it is wide."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from rich.cells import cell_len

from penstock.sql.running.results import Framed, Grid, Lines, Part

RULE = "-" * 14
NARROWEST = 4


def printed(part: Part, width: int | None) -> str:
    """A part as text; ``width`` is that of the terminal, None where nothing needs to fit."""
    if isinstance(part, Framed):
        return f"\n{RULE}\n{part.text}\n{RULE}"
    if isinstance(part, Lines):
        return f"\n{part.text}"
    return "\n" + (_titled(part, width) if part.titled else _ruled(part, width))


def _titled(grid: Grid, width: int | None) -> str:
    """As KLIP-7 prints tables."""
    widths = _widths(grid, width)
    heads = [_centred(head, size) for head, size in zip(grid.headings, widths, strict=True)]
    rule = "|".join("-" * (size + (2 if number else 1)) for number, size in enumerate(widths))
    lines = [line for row in grid.rows for line in _lines(row, widths)]
    return "\n".join([" | ".join(heads).rstrip(), rule, *lines])


def _centred(head: str, size: int) -> str:
    """Rather to the left; one that is too long is cut."""
    return (" " * ((size - len(head)) // 2) + head)[:size].ljust(size)


def _ruled(grid: Grid, width: int | None) -> str:
    """As ksqlDB's prompt prints tables: between rules, a blank before each cell."""
    widths = _widths(grid, width)
    head = _lines(grid.headings, widths)
    rule = "-" * (sum(widths) + 3 * (len(widths) - 1) + 2)
    lines = [f" {line}" for row in grid.rows for line in _lines(row, widths)]
    return "\n".join([*(f" {line}" for line in head), rule, *lines, rule])


def _lines(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    """A row, whose long cells go on in further lines."""
    cells = [_wrapped(cell, size) for cell, size in zip(row, widths, strict=True)]
    height = max(map(len, cells))
    return [
        " | ".join(
            _padded(cell[number] if number < len(cell) else "", size)
            for cell, size in zip(cells, widths, strict=True)
        ).rstrip()
        for number in range(height)
    ]


def _wrapped(cell: str, size: int) -> list[str]:
    lines = cell.splitlines() or [""]
    return [part for line in lines for part in textwrap.wrap(line, size) or [""]]


def _padded(text: str, size: int) -> str:
    return text + " " * (size - cell_len(text))


def _widths(grid: Grid, width: int | None) -> list[int]:
    columns = zip(grid.headings, *grid.rows, strict=True)
    found = [max(_longest(cell) for cell in column) for column in columns]
    room = None if width is None else width - 3 * (len(found) - 1) - 2
    while room is not None and sum(found) > room and max(found) > NARROWEST:
        found[found.index(max(found))] -= 1
    return found


def _longest(cell: str) -> int:
    return max(map(cell_len, cell.splitlines() or [""]), default=0) or 1
