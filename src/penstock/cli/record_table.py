"""Records as rows of a table whose columns are the fields of JSON objects."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from penstock.cli.output import compact
from penstock.cli.record_printing import readable

if TYPE_CHECKING:
    from penstock.consumers.reading.record import Record

GAP = "  "


class TablePrinter:
    """Goes on with the columns that it has, and begins with other headings when there are more.

    A value that is not a JSON object stands alone in the column ``value``.
    """

    def __init__(self) -> None:
        self._widths: dict[str, int] = {}

    def __call__(self, records: Sequence[Record]) -> bytes:
        """The rows of these records, with headings if they need any."""
        rows = [_row(record) for record in records]
        lines = self._headings(rows)
        lines += [self._line(row) for row in rows]
        return "".join(f"{line}\n" for line in lines).encode(errors="replace")

    def _headings(self, rows: Iterable[Mapping[str, str]]) -> list[str]:
        columns = {column for row in rows for column in row}
        if columns <= self._widths.keys():
            return []
        again = [""] if self._widths else []
        for row in rows:
            for column, cell in row.items():
                self._widths[column] = max(self._widths.get(column, len(column)), len(cell))
        return [*again, self._line({column: column for column in self._widths})]

    def _line(self, row: Mapping[str, str]) -> str:
        cells = (row.get(column, "").ljust(width) for column, width in self._widths.items())
        return GAP.join(cells).rstrip()


def _row(record: Record) -> dict[str, str]:
    try:
        found = record.json()
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        return {"value": _one_line(readable(record.value))}
    return {str(name): _cell(value) for name, value in found.items()}


def _cell(value: Any) -> str:
    return _one_line(value) if isinstance(value, str) else compact(value)


def _one_line(text: str) -> str:
    return text if text.isprintable() else json.dumps(text, ensure_ascii=False)
