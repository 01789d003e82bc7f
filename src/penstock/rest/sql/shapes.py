"""Rows of a query on the wire, in each of ksqlDB's three forms."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Protocol

DELIMITED = "application/vnd.ksqlapi.delimited.v1"
KSQL = "application/vnd.ksql.v1+json"
JSON = "application/json"
Json = dict[str, Any]
Columns = Sequence[tuple[str, str]]


class Form(Protocol):
    """How an answer begins, goes on row by row, and ends."""

    media_type: str

    def head(self, query_id: str, columns: Columns) -> str:
        """Before the first row."""

    def row(self, values: Sequence[Any]) -> str:
        """One row."""

    def end(self, note: str) -> str:
        """After the last."""

    def failed(self, error: Json) -> str:
        """Instead of further rows."""


class Delimited:
    """``/query-stream``: one JSON document per line."""

    media_type = DELIMITED

    def head(self, query_id: str, columns: Columns) -> str:
        return _line(_header(query_id, columns))

    def row(self, values: Sequence[Any]) -> str:
        return _line([on_wire(value) for value in values])

    def end(self, note: str) -> str:
        return ""

    def failed(self, error: Json) -> str:
        return _line(error)


class OneArray:
    """``/query-stream`` for who accepts JSON only."""

    media_type = JSON

    def head(self, query_id: str, columns: Columns) -> str:
        return f"[{_text(_header(query_id, columns))}"

    def row(self, values: Sequence[Any]) -> str:
        return f",\n{_text([on_wire(value) for value in values])}"

    def end(self, note: str) -> str:
        return "]\n"

    def failed(self, error: Json) -> str:
        return f",\n{_text(error)}]\n"


class StreamedRows:
    """``/query``: an array of objects, each of which says what it is."""

    media_type = KSQL

    def head(self, query_id: str, columns: Columns) -> str:
        schema = ", ".join(f"`{name}` {kind}" for name, kind in columns)
        return f"[{_text({'header': {'queryId': query_id, 'schema': schema}})},\n"

    def row(self, values: Sequence[Any]) -> str:
        columns = [on_wire(value) for value in values]
        return f"{_text({'row': {'columns': columns}})},\n"

    def end(self, note: str) -> str:
        return f"{_text({'finalMessage': note})}]\n"

    def failed(self, error: Json) -> str:
        return f"{_text({'errorMessage': error})}]\n"


def on_wire(value: Any) -> Any:
    """A value as JSON; as text if JSON has no form for it."""
    if isinstance(value, dict):
        return {str(key): on_wire(each) for key, each in value.items()}
    if isinstance(value, list):
        return [on_wire(each) for each in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Decimal):
        return _number(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value.isoformat() if hasattr(value, "isoformat") else value


def _number(value: Decimal) -> float | str:
    """A number, unless that would change it."""
    return float(value) if Decimal(repr(float(value))) == value else str(value)


def wire_type(kind: str) -> str:
    """ksqlDB's API says STRING where SQL says VARCHAR."""
    return kind.replace("VARCHAR", "STRING")


def _header(query_id: str, columns: Columns) -> Json:
    return {
        "queryId": query_id,
        "columnNames": [name for name, _ in columns],
        "columnTypes": [kind for _, kind in columns],
    }


def _line(value: Any) -> str:
    return _text(value) + "\n"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
