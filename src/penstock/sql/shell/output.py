"""Answers on standard output: for people, as JSON (a list, or an object per line), or as CSV."""

from __future__ import annotations

import base64
import csv
import io
import json
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any

from penstock.sql.running.results import Grid, Printed, Result, Rows
from penstock.sql.running.session import Ran
from penstock.sql.shell.grids import printed

Write = Callable[[str], object]


class Form(StrEnum):
    """How answers are written."""

    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"


JSONS = (Form.JSON, Form.JSONL)


class Output:
    """Writes answers. ``width`` is the terminal's, None for a pipe; ``warn`` takes other lines."""

    def __init__(self, form: Form, write: Write, warn: Write, width: int | None) -> None:
        self._form = form
        self._write = write
        self._warn = warn
        self._width = width
        self._begun = False
        """Whether a list of JSON is open."""

    def show(self, ran: Ran) -> None:
        """Write an answer; of a query, each row as it comes."""
        answer = ran.answer
        if isinstance(answer, Rows):
            self._rows(answer)
        elif isinstance(answer, Printed):
            for line in answer.lines:
                self._write(line + "\n")
        else:
            self._result(ran.statement, answer)

    def close(self) -> None:
        """Close the list of JSON; an answer after this opens another."""
        if self._form is Form.JSON:
            self._write("\n]\n" if self._begun else "[]\n")
            self._begun = False

    def _object(self, text: str) -> None:
        if self._form is Form.JSONL:
            self._write(text + "\n")
            return
        self._write((",\n" if self._begun else "[\n") + text)
        self._begun = True

    def _result(self, statement: str, result: Result) -> None:
        for text in result.warnings:
            self._warn(f"Warning: {text}\n")
        if self._form in JSONS:
            entity = {**result.entity, "statementText": statement + ";"}
            self._object(json.dumps(entity, ensure_ascii=False, default=str))
            return
        for part in result.parts:
            if self._form is Form.CSV and isinstance(part, Grid):
                self._csv([part.headings, *part.rows])
            else:
                self._write(printed(part, self._width) + "\n")

    def _csv(self, rows: Sequence[Sequence[Any]]) -> None:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(rows)
        self._write(text.getvalue())

    def _rows(self, rows: Rows) -> None:
        if self._form is Form.CSV:
            self._csv([rows.columns])
        elif self._form is Form.TABLE:
            self._write("\n" + self._line(rows.columns, rows) + "\n")
            self._write("-" * len(self._line(rows.columns, rows)) + "\n")
        try:
            for row in rows.rows:
                self._row(rows, row)
        finally:  # also of a query that Ctrl-C ends
            for text in rows.warnings():
                self._warn(f"Warning: {text}\n")
        if self._form is Form.TABLE and rows.note:
            self._warn(f"{rows.note}\n")

    def _row(self, rows: Rows, row: Sequence[Any]) -> None:
        if self._form in JSONS:
            named = dict(zip(rows.columns, row, strict=True))
            self._object(json.dumps(named, ensure_ascii=False, default=as_text))
        elif self._form is Form.CSV:
            self._csv([[as_cell(value) for value in row]])
        else:
            self._write(self._line([as_cell(value, null="null") for value in row], rows) + "\n")

    def _line(self, cells: Sequence[str], rows: Rows) -> str:
        """One line of a live table: columns of the same width, so that rows can come one by one."""
        count = max(len(rows.columns), 1)
        if self._width is None:
            return " | ".join(cells)
        size = max((self._width - 3 * (count - 1)) // count, 4)
        return " | ".join(_fitted(cell, size) for cell in cells).rstrip()


def _fitted(cell: str, size: int) -> str:
    flat = cell.replace("\n", " ")
    return flat[: size - 1] + "…" if len(flat) > size else flat.ljust(size)


def as_cell(value: Any, null: str = "") -> str:
    """A value in a table."""
    if value is None:
        return null
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, default=as_text)
    return as_text(value)


def as_text(value: Any) -> str:
    """What JSON has no form for: bytes, dates and decimals."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    return str(value)
