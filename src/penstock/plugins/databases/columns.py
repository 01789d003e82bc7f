"""A column of a table or query: its type in the database, its schema, and how it is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from penstock.sdk.schema import Schema

Conversion = Callable[[Any], Any]
"""From the Arrow array that a driver returns to one of the schema's type."""


@dataclass(frozen=True)
class Column:
    """``expression`` is what is selected; ``conversion`` makes the schema's type of the result."""

    name: str
    type: str
    schema: Schema
    expression: str
    conversion: Conversion
    incrementing: bool = False
    """Whether the database numbers the rows by it."""

    @property
    def nullable(self) -> bool:
        """Whether it may be null."""
        return self.schema.optional


@dataclass(frozen=True)
class TableId:
    """A table's name; ``schema`` is "" where the database has none."""

    schema: str
    table: str

    def __str__(self) -> str:
        return f"{self.schema}.{self.table}" if self.schema else self.table


@dataclass(frozen=True)
class Relation:
    """What is read: a table, or a query in its place. ``sql`` stands behind FROM."""

    label: str
    """What people call it."""
    name: str
    """The name of its rows' schema."""
    sql: str
    columns: tuple[Column, ...]
    pages: str = ""
    """By what it can be read in parts without any order: "ctid", "rowid" or "" for nothing."""

    def column(self, name: str) -> Column | None:
        """The column called so; one that differs only in case if there is none."""
        exact = next((c for c in self.columns if c.name == name), None)
        return exact or next((c for c in self.columns if c.name.lower() == name.lower()), None)

    @property
    def selected(self) -> str:
        """What stands behind SELECT."""
        return ", ".join(column.expression for column in self.columns)


def as_is(array: pa.Array) -> pa.Array:
    """For columns that come in the schema's type."""
    return array
