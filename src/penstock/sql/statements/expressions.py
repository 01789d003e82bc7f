"""Expressions. Identifiers have the case that counts: unquoted ones are in upper case."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.sql.statements.queries import Query
    from penstock.sql.statements.types import SqlType


@dataclass(frozen=True)
class Literal:
    """Text, a number, a truth value or None."""

    value: str | int | float | Decimal | bool | None


@dataclass(frozen=True)
class Column:
    """A column, perhaps of a named relation."""

    name: str
    relation: str = ""


@dataclass(frozen=True)
class Field:
    """A field of a struct: ``of -> name``."""

    of: Expression
    name: str


@dataclass(frozen=True)
class Element:
    """An element of an array or a map: ``of[at]``."""

    of: Expression
    at: Expression


@dataclass(frozen=True)
class Unary:
    """``NOT x`` or ``-x``."""

    operator: str
    operand: Expression


@dataclass(frozen=True)
class Binary:
    """Arithmetic, comparison, AND, OR, LIKE, IS DISTINCT FROM, ``||``."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class IsNull:
    """``x IS [NOT] NULL``."""

    operand: Expression
    negated: bool = False


@dataclass(frozen=True)
class Between:
    """``x [NOT] BETWEEN low AND high``."""

    operand: Expression
    low: Expression
    high: Expression
    negated: bool = False


@dataclass(frozen=True)
class IsIn:
    """``x [NOT] IN (…)``: of values, or of a query."""

    operand: Expression
    values: tuple[Expression, ...]
    negated: bool = False


@dataclass(frozen=True)
class Like:
    """``x [NOT] LIKE pattern [ESCAPE '…']``."""

    operand: Expression
    pattern: Expression
    negated: bool = False
    escape: str | None = None


@dataclass(frozen=True)
class Call:
    """A function, by its name in upper case; ``COUNT(*)`` has a Star."""

    name: str
    arguments: tuple[Expression, ...]
    distinct: bool = False


@dataclass(frozen=True)
class Star:
    """All columns, perhaps of a named relation."""

    relation: str = ""


@dataclass(frozen=True)
class Cast:
    """``CAST(x AS type)``."""

    operand: Expression
    type: SqlType


@dataclass(frozen=True)
class Case:
    """``CASE [x] WHEN … THEN … [ELSE …] END``."""

    operand: Expression | None
    branches: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression | None


@dataclass(frozen=True)
class MakeArray:
    """``ARRAY[…]``."""

    items: tuple[Expression, ...]


@dataclass(frozen=True)
class MakeMap:
    """``MAP(k := v, …)``."""

    entries: tuple[tuple[Expression, Expression], ...]


@dataclass(frozen=True)
class MakeStruct:
    """``STRUCT(name := v, …)``."""

    fields: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True)
class Subquery:
    """A query whose one value, or list of values, is meant."""

    query: Query


Expression = (
    Literal
    | Column
    | Field
    | Element
    | Unary
    | Binary
    | IsNull
    | Between
    | IsIn
    | Like
    | Call
    | Star
    | Cast
    | Case
    | MakeArray
    | MakeMap
    | MakeStruct
    | Subquery
)
