"""A stream or table: a schema over a topic."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from penstock.sql.statements.kinds import SourceKind, WindowKind
from penstock.sql.statements.types import ColumnDef, SqlType

PSEUDO = ("ROWTIME", "ROWPARTITION", "ROWOFFSET")
WINDOW_BOUNDS = ("WINDOWSTART", "WINDOWEND")
"""Further columns of tables whose rows are groups of a window."""
AVRO = "AVRO"
FORMATS = ("JSON", "DELIMITED", "KAFKA", AVRO)
OBJECTS = ("JSON", AVRO)
"""Formats whose values are objects with named fields: of AVRO, SQL reads and writes their JSON."""


@dataclass(frozen=True)
class Source:
    """A schema, and how records of the topic have it."""

    kind: SourceKind
    name: str
    topic: str
    columns: tuple[ColumnDef, ...]
    key_format: str = "KAFKA"
    value_format: str = "JSON"
    delimiter: str = ","
    timestamp: str = ""
    """The column that is ROWTIME, instead of the record's own time."""
    read_only: bool = False
    with_schema: bool = False
    """Whether values of JSON are written with Kafka Connect's schema of them."""
    statement: str = ""
    window: WindowKind | None = None
    """Of a table whose keys end in where a window begins."""
    window_size: int = 0
    """In milliseconds; of sessions, which have none, 0."""

    @property
    def pseudo(self) -> tuple[str, ...]:
        """Columns that it has beside those that were declared."""
        return (*PSEUDO, *(WINDOW_BOUNDS if self.window else ()))

    @property
    def window_bytes(self) -> int:
        """How many at the end of a key are the window: of sessions its end and its beginning."""
        return {None: 0, WindowKind.SESSION: 16}.get(self.window, 8)

    @property
    def keys(self) -> tuple[ColumnDef, ...]:
        """The columns in the record's key."""
        return tuple(column for column in self.columns if column.is_key)

    @property
    def has_objects(self) -> bool:
        """Whether its values are objects, of which there may be such that cannot be read."""
        return self.value_format in OBJECTS

    @property
    def unreadable(self) -> str:
        """What is wrong with a value that cannot be read."""
        return f"the value is no {'Avro record' if self.value_format == AVRO else 'JSON object'}"

    @property
    def avro(self) -> tuple[bool, bool]:
        """Whether its keys, and its values, are Avro."""
        return self.key_format == AVRO, self.value_format == AVRO

    def in_json(self) -> Source:
        """The same over records whose Avro has been turned into JSON."""
        forms = ("JSON" if each == AVRO else each for each in (self.key_format, self.value_format))
        key, value = forms
        return replace(self, key_format=key, value_format=value)

    @property
    def values(self) -> tuple[ColumnDef, ...]:
        """The columns in the record's value."""
        return tuple(c for c in self.columns if not c.is_key and c.role != "HEADERS")

    def to_json(self) -> dict[str, Any]:
        """As the catalog's topic has it."""
        columns = [_column_json(column) for column in self.columns]
        return {**vars(self), "columns": columns, "window": self.window or ""}

    @staticmethod
    def from_json(stored: dict[str, Any]) -> Source:
        """The reverse; fields of a later version are ignored."""
        known = {k: v for k, v in stored.items() if k in Source.__dataclass_fields__}
        known |= {"kind": SourceKind(stored["kind"]), "window": _window(stored.get("window"))}
        return Source(**{**known, "columns": tuple(map(_column, stored["columns"]))})


def _window(stored: str | None) -> WindowKind | None:
    return WindowKind(stored) if stored else None


def _column_json(column: ColumnDef) -> dict[str, Any]:
    return {**vars(column), "type": type_json(column.type)}


def _column(stored: dict[str, Any]) -> ColumnDef:
    return ColumnDef(**{**stored, "type": type_from_json(stored["type"])})


def type_json(kind: SqlType) -> dict[str, Any]:
    """A type as the catalog's topic has it."""
    return {
        "name": kind.name,
        "arguments": [type_json(each) for each in kind.arguments],
        "fields": [[name, type_json(each)] for name, each in kind.fields],
        "precision": kind.precision,
    }


def type_from_json(stored: dict[str, Any]) -> SqlType:
    """The reverse."""
    return SqlType(
        stored["name"],
        tuple(type_from_json(each) for each in stored["arguments"]),
        tuple((name, type_from_json(each)) for name, each in stored["fields"]),
        tuple(stored["precision"]) if stored["precision"] else None,
    )


def column_list(columns: tuple[ColumnDef, ...]) -> str:
    """``id VARCHAR, age INTEGER``."""
    return ", ".join(f"{column.name} {column.type}" for column in columns)
