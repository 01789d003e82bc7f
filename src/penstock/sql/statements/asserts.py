"""Statements that say what must be so: those of tests."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.sql.statements.connectors import Properties
from penstock.sql.statements.expressions import Expression
from penstock.sql.statements.kinds import SourceKind
from penstock.sql.statements.types import ColumnDef


@dataclass(frozen=True)
class AssertValues:
    """The next record of a stream or table; with ``tombstone`` it has no value, only its key."""

    source: str
    columns: tuple[str, ...]
    row: tuple[Expression, ...]
    tombstone: bool = False


@dataclass(frozen=True)
class AssertSource:
    """A stream or table is declared so; what is not mentioned may be anything."""

    kind: SourceKind
    name: str
    columns: tuple[ColumnDef, ...]
    properties: Properties


AssertStatement = AssertValues | AssertSource
