"""Statements about streams, tables and types."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.sql.statements.connectors import Properties
from penstock.sql.statements.kinds import SourceKind
from penstock.sql.statements.types import ColumnDef, SqlType


@dataclass(frozen=True)
class CreateSource:
    """Without columns they are inferred."""

    kind: SourceKind
    name: str
    columns: tuple[ColumnDef, ...]
    properties: Properties
    or_replace: bool = False
    if_not_exists: bool = False
    read_only: bool = False
    """``CREATE SOURCE STREAM|TABLE``."""
    connector: str | None = None
    """``FROM SOURCE CONNECTOR n``: made from a topic of that connector."""


@dataclass(frozen=True)
class DropSource:
    """``DROP STREAM|TABLE``."""

    kind: SourceKind
    name: str
    if_exists: bool = False
    delete_topic: bool = False


@dataclass(frozen=True)
class AddColumns:
    """``ALTER STREAM|TABLE n ADD COLUMN …``."""

    kind: SourceKind
    name: str
    columns: tuple[ColumnDef, ...]


@dataclass(frozen=True)
class Show:
    """``what`` is STREAMS, TABLES, TOPICS, QUERIES, PROPERTIES, FUNCTIONS, TYPES or VARIABLES."""

    what: str
    extended: bool = False
    every: bool = False


@dataclass(frozen=True)
class Describe:
    """A stream, a table or a connector: what has that name."""

    name: str
    extended: bool = False


@dataclass(frozen=True)
class DescribeAll:
    """``DESCRIBE STREAMS|TABLES``."""

    what: str
    extended: bool = False


@dataclass(frozen=True)
class CreateType:
    """``CREATE TYPE n AS …``."""

    name: str
    type: SqlType
    if_not_exists: bool = False


@dataclass(frozen=True)
class DropType:
    """``DROP TYPE``."""

    name: str
    if_exists: bool = False


SourceStatement = (
    CreateSource | DropSource | AddColumns | Show | Describe | DescribeAll | CreateType | DropType
)
