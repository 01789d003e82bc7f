"""What differs between databases."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import pyarrow as pa

from penstock.plugins.databases.columns import Column, Relation, TableId
from penstock.plugins.databases.postgres_types import TypeOptions, quote
from penstock.plugins.databases.sessions import Session


class Dialect(ABC):
    """How one kind of database is asked. Names are quoted, values are parameters."""

    times: ClassVar[bool]
    """Whether rows can be found by a time."""

    def __init__(self, options: TypeOptions) -> None:
        self.options = options

    @abstractmethod
    def parameter(self, number: int) -> str:
        """The place of a parameter in SQL; the first is 1."""

    @abstractmethod
    def tables(self, session: Session, schema_pattern: str | None, views: bool) -> list[TableId]:
        """Every table that the user may read, in the order of their names."""

    @abstractmethod
    def table(self, session: Session, table: TableId) -> Relation | None:
        """A table with its columns; None if there is none."""

    @abstractmethod
    def query(self, session: Session, sql: str) -> Relation:
        """A query with the columns of its result."""

    def time_parameter(self, column: Column, number: int) -> str:
        """The place of a time that is a parameter, to be compared with ``column``."""
        raise NotImplementedError

    def latest(self, column: Column, delay_ms: int) -> str:
        """SQL for the time before which rows of ``column`` are old enough."""
        raise NotImplementedError

    def time_text(self, column: Column, micros: int) -> str:
        """A moment as the parameter that ``time_parameter`` has a place for."""
        raise NotImplementedError

    def moment(self, column: Column, value: pa.Scalar) -> int:
        """A value of ``column``, as it was read, in microseconds since 1970."""
        raise NotImplementedError

    @abstractmethod
    def page(self, relation: Relation, number: int, rows: int) -> tuple[str, list[Any]]:
        """A condition for the rows from page ``number`` on, and its parameters."""

    @abstractmethod
    def pages_of(self, rows: int) -> int:
        """How many pages ``page`` covers."""

    @abstractmethod
    def pages(self, session: Session, relation: Relation) -> int:
        """How many pages a table has."""


def quoted_table(table: TableId) -> str:
    """A table's name as SQL wants it."""
    return ".".join(quote(part) for part in (table.schema, table.table) if part)


def as_subquery(sql: str) -> str:
    """A query in the place of a table."""
    return f"({sql.strip().rstrip(';')}) AS penstock_query"
