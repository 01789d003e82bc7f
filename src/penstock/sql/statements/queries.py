"""Queries, and the statements that contain one."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.sql.statements.connectors import Properties
from penstock.sql.statements.expressions import Expression
from penstock.sql.statements.kinds import JoinKind, SourceKind, WindowKind


@dataclass(frozen=True)
class Item:
    """One of the things that are selected; ``alias`` may be empty."""

    expression: Expression
    alias: str = ""


@dataclass(frozen=True)
class Relation:
    """A stream or table, or a query, under the name that its columns are prefixed with."""

    source: str | Query
    alias: str = ""


@dataclass(frozen=True)
class Within:
    """How far apart two rows may be, as texts such as ``1 HOUR``; ``grace`` may be empty."""

    before: str
    after: str
    grace: str = ""


@dataclass(frozen=True)
class Join:
    """A stream or table that is joined, and by what."""

    kind: JoinKind
    relation: Relation
    on: Expression
    within: Within | None = None


@dataclass(frozen=True)
class Window:
    """Sizes are pairs such as (``SIZE``, ``1 HOUR``)."""

    kind: WindowKind
    sizes: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Ordering:
    """One column of ORDER BY."""

    expression: Expression
    descending: bool = False


@dataclass(frozen=True)
class Query:
    """A SELECT. ``emit`` is CHANGES, FINAL or, for a pull query, empty."""

    items: tuple[Item, ...]
    relation: Relation
    joins: tuple[Join, ...] = ()
    distinct: bool = False
    window: Window | None = None
    where: Expression | None = None
    group_by: tuple[Expression, ...] = ()
    partition_by: tuple[Expression, ...] = ()
    having: Expression | None = None
    order_by: tuple[Ordering, ...] = ()
    emit: str = ""
    limit: int | None = None


@dataclass(frozen=True)
class Select:
    """A query by itself: its rows go to who asked."""

    query: Query


@dataclass(frozen=True)
class CreateAs:
    """``CREATE STREAM|TABLE n AS SELECT …``."""

    kind: SourceKind
    name: str
    properties: Properties
    query: Query
    or_replace: bool = False
    if_not_exists: bool = False


@dataclass(frozen=True)
class InsertSelect:
    """``INSERT INTO s SELECT …``."""

    target: str
    query: Query
    properties: Properties = ()


@dataclass(frozen=True)
class InsertValues:
    """``INSERT INTO s [(columns)] VALUES (…)``."""

    target: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Expression, ...], ...]


@dataclass(frozen=True)
class Explain:
    """Of a query, of one that would persist in ``sink``, or of a running one by its id."""

    query: Query | None
    query_id: str = ""
    sink: str = ""


@dataclass(frozen=True)
class PrintTopic:
    """``PRINT topic [FROM BEGINNING] [INTERVAL n] [LIMIT n]``."""

    topic: str
    from_beginning: bool = False
    interval: int = 1
    limit: int | None = None


@dataclass(frozen=True)
class ChangeQuery:
    """``verb`` is terminate, pause or resume; ``query_id`` is an id or ALL."""

    verb: str
    query_id: str


QueryStatement = (
    Select | CreateAs | InsertSelect | InsertValues | Explain | PrintTopic | ChangeQuery
)
