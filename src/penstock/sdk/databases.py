"""The seam for databases: one class for each kind that the JDBC source reads.

A package that brings another kind names its ``Dialect`` in the entry point group
``penstock.databases``, under the word that stands behind ``jdbc:`` in a ``connection.url``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Protocol

import pyarrow as pa

from penstock.sdk.schema import Schema

GROUP: Final = "penstock.databases"
Conversion = Callable[[Any], Any]
"""From the Arrow array that a driver returns to one of the schema's type."""


@dataclass(frozen=True)
class Database:
    """Where a database is and how to log in. Its text has no password."""

    kind: str
    """What people call this kind of database."""
    address: str
    """Host, port and database, or the path of a file: what may be shown."""
    uri: str = field(repr=False)
    """The address as the driver wants it, with the password."""
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    """Taken out of the driver's errors before they are shown."""
    file: str | None = None
    """The path, if it is a file: the worker's ``file.allowed.roots`` holds for it."""

    def __str__(self) -> str:
        return f"{self.kind} database {self.address}"


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
    """By what it can be read in parts without any order, as "ctid" and "rowid"; "" for nothing."""

    def column(self, name: str) -> Column | None:
        """The column called so; one that differs only in case if there is none."""
        exact = next((c for c in self.columns if c.name == name), None)
        return exact or next((c for c in self.columns if c.name.lower() == name.lower()), None)

    @property
    def selected(self) -> str:
        """What stands behind SELECT."""
        return ", ".join(column.expression for column in self.columns)


@dataclass(frozen=True)
class TypeOptions:
    """What the configuration says about types."""

    numeric_mapping: str = "none"
    granularity: str = "connect_logical"
    zone: str = "UTC"


class Session(Protocol):
    """A connection to one database, on which a dialect asks. Errors of the driver are translated.

    ``doing`` completes "… failed while", for example ``listing its tables``.
    """

    database: Database

    def query(self, sql: str, parameters: Sequence[Any] = (), *, doing: str = "reading") -> Any:
        """The result as an Arrow table."""
        ...

    def rows(self, sql: str, parameters: Sequence[Any] = (), *, doing: str) -> list[dict[str, Any]]:
        """A small result, as Python objects."""
        ...


class Dialect(ABC):
    """How one kind of database is reached and asked. Names are quoted, values are parameters.

    An instance belongs to one connector or task, and is used by one thread at a time. Errors of
    ADBC pass through: the caller turns them into errors that say what to do, and tries again where
    that helps.
    """

    time_types: ClassVar[tuple[str, ...]] = ()
    """Types of columns by which rows can be found by a time; none if the mode timestamp is not
    supported, and then neither are ``now_ms`` and the methods with ``time`` in their names."""
    count_types: ClassVar[tuple[str, ...]] = ()
    """Types of whole numbers by which a large table's first load may be divided."""

    def __init__(self, options: TypeOptions) -> None:
        self.options = options

    @classmethod
    @abstractmethod
    def database(cls, rest: str, user: str | None, password: str | None) -> Database:
        """The database of a URL; ``rest`` is what stands in it behind ``jdbc:`` and the kind.

        ``user`` and ``password`` win over those in the URL. ``ConfigError`` with the key
        ``connection.url`` says how to write it, and repeats no password.
        """

    @classmethod
    @abstractmethod
    def connect(cls, database: Database) -> Any:
        """A connection of ADBC's DB-API (``adbc_driver_manager.dbapi``) that commits by itself.

        It waits a few seconds for a server, or for a lock, at the most.
        """

    def quote(self, name: str) -> str:
        """A name as SQL wants it."""
        return quote(name)

    @abstractmethod
    def parameter(self, number: int) -> str:
        """The place of a parameter in SQL, by its number, since it may be there twice; from 1."""

    @abstractmethod
    def tables(self, session: Session, schema_pattern: str | None, views: bool) -> list[TableId]:
        """Every table that the user may read, in the order of their names."""

    @abstractmethod
    def table(self, session: Session, table: TableId) -> Relation | None:
        """A table with its columns; None if there is none."""

    @abstractmethod
    def query(self, session: Session, sql: str) -> Relation:
        """A query with the columns of its result."""

    def now_ms(self, session: Session) -> int:
        """The database's own time, in milliseconds since 1970."""
        raise NotImplementedError

    def time_parameter(self, column: Column, number: int) -> str:
        """The place of a time that is a parameter, to be compared with ``column``."""
        raise NotImplementedError

    def latest_time(self, column: Column, delay_ms: int) -> str:
        """SQL for the time before which rows of ``column`` are old enough."""
        raise NotImplementedError

    def time_value(self, column: Column, micros: int) -> Any:
        """A moment as the parameter that ``time_parameter`` has a place for."""
        raise NotImplementedError

    def time_micros(self, column: Column, value: pa.Scalar) -> int:
        """A value of ``column``, as it was read, in microseconds since 1970."""
        raise NotImplementedError

    def page(self, relation: Relation, number: int, rows: int) -> tuple[str, list[Any]]:
        """A condition for the rows from page ``number`` on, and its parameters.

        This and the next two are asked only of relations that have ``pages``.
        """
        raise NotImplementedError

    def pages_of(self, rows: int) -> int:
        """How many pages ``page`` covers."""
        raise NotImplementedError

    def pages(self, session: Session, relation: Relation) -> int:
        """How many pages a table has."""
        raise NotImplementedError


def quote(name: str) -> str:
    """A name as standard SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def as_subquery(sql: str) -> str:
    """A query in the place of a table."""
    return f"({sql.strip().rstrip(';')}) AS penstock_query"


def as_is(array: pa.Array) -> pa.Array:
    """For columns that come in the schema's type."""
    return array
