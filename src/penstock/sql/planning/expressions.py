"""Expressions in Spark's SQL, in forms that give NULL where the plain ones would fail."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from decimal import Decimal
from typing import Any

from penstock.sql.errors import StatementError
from penstock.sql.planning.folds import FOLDS
from penstock.sql.planning.function_list import AGGREGATES, TEXTS
from penstock.sql.planning.functions import spark_call
from penstock.sql.planning.spark_types import quoted, spark_type, text
from penstock.sql.statements import expressions as ex
from penstock.sql.statements.queries import Query
from penstock.sql.statements.types import SqlType

TRYING = {"+": "try_add", "-": "try_subtract", "*": "try_multiply", "/": "try_divide"}
COMPARING = ("=", "<>", "<", ">", "<=", ">=")
QueryText = Callable[[Query], str]


class Expressions:
    """Writes expressions.

    ``texts`` says which columns hold text, for which + concatenates: by their names, or by
    those with their relation's name and a dot before it (``texts_of``).
    """

    def __init__(self, texts: Mapping[str, bool], query_text: QueryText) -> None:
        self._texts = texts
        self._query_text = query_text

    def write(self, each: ex.Expression) -> str:
        """An expression as Spark takes it."""
        writer: Callable[[ex.Expression], str] = getattr(self, f"_{type(each).__name__.lower()}")
        return writer(each)

    def _all(self, expressions: tuple[ex.Expression, ...]) -> list[str]:
        return [self.write(each) for each in expressions]

    def _literal(self, each: ex.Literal) -> str:
        value = each.value
        if isinstance(value, str):
            return text(value)
        if value is None or isinstance(value, bool):
            return "NULL" if value is None else str(value).upper()
        return f"{value!r}D" if isinstance(value, float) else str(value)

    def _column(self, each: ex.Column) -> str:
        prefix = f"{quoted(each.relation)}." if each.relation else ""
        return prefix + quoted(each.name)

    def _star(self, each: ex.Star) -> str:
        return f"{quoted(each.relation)}.*" if each.relation else "*"

    def _field(self, each: ex.Field) -> str:
        return f"{self.write(each.of)}.{quoted(each.name)}"

    def _element(self, each: ex.Element) -> str:
        of, at = self.write(each.of), self.write(each.at)
        if isinstance(each.at, ex.Literal) and each.at.value != 0:
            return f"try_element_at({of}, {at})"
        # Of a list, Spark refuses number 0 even so; of a map it is a key like any other.
        none = f"typeof({of}) LIKE 'array%' AND CAST({at} AS STRING) = '0'"
        return f"try_element_at({of}, CASE WHEN {none} THEN NULL ELSE {at} END)"

    def _unary(self, each: ex.Unary) -> str:
        operand = self.write(each.operand)
        return f"(NOT {operand})" if each.operator == "NOT" else f"try_subtract(0, {operand})"

    def _binary(self, each: ex.Binary) -> str:
        left, right = self.write(each.left), self.write(each.right)
        if each.operator in COMPARING:
            self._refuse_unlike(each)
        if each.operator == "||" or (each.operator == "+" and self._concatenates(each)):
            return f"concat({left}, {right})"
        if each.operator in TRYING:
            return f"{TRYING[each.operator]}({left}, {right})"
        if each.operator == "%":
            return f"try_mod({left}, {right})"
        if each.operator.endswith("DISTINCT FROM"):
            same = f"({left} <=> {right})"
            return same if "NOT" in each.operator else f"(NOT {same})"
        return f"({left} {each.operator} {right})"

    def _refuse_unlike(self, each: ex.Binary) -> None:
        for one, other in ((each.left, each.right), (each.right, each.left)):
            if self.is_text(one) and _is_number(other):
                raise StatementError(
                    f"{each.operator} cannot compare VARCHAR with the number "
                    f"{self._told(other)}. Write it as a text, or CAST the text."
                )

    def _told(self, number: ex.Expression) -> str:
        if isinstance(number, ex.Unary):
            return f"-{self._told(number.operand)}"
        return self.write(number)

    def _concatenates(self, each: ex.Binary) -> bool:
        return self.is_text(each.left) or self.is_text(each.right)

    def is_text(self, each: ex.Expression) -> bool:
        """Whether it is text, as far as that can be seen."""
        if isinstance(each, ex.Literal):
            return isinstance(each.value, str)
        if isinstance(each, ex.Column | ex.Field | ex.Element):
            return self._texts.get(_path(each), self._texts.get(_path(each, full=False), False))
        if isinstance(each, ex.Case):
            results = [*(then for _, then in each.branches), each.otherwise]
            return any(result is not None and self.is_text(result) for result in results)
        if isinstance(each, ex.Cast):
            return each.type.name == "VARCHAR"
        if isinstance(each, ex.Binary):
            return each.operator == "||" or (each.operator == "+" and self._concatenates(each))
        return isinstance(each, ex.Call) and each.name in TEXTS

    def texts_within(self, each: ex.Expression, name: str) -> dict[str, bool]:
        """As ``texts_of``, of an expression under that name."""
        found = {name: self.is_text(each)}
        for path in filter(None, (_path(each), _path(each, full=False))):
            for known, is_text in self._texts.items():
                if known.startswith((f"{path}->", f"{path}[]")):
                    found[name + known.removeprefix(path)] = is_text
        return found

    def _isnull(self, each: ex.IsNull) -> str:
        return f"({self.write(each.operand)} IS {_not(each.negated)}NULL)"

    def _between(self, each: ex.Between) -> str:
        operand, low, high = map(self.write, (each.operand, each.low, each.high))
        return f"({operand} {_not(each.negated)}BETWEEN {low} AND {high})"

    def _isin(self, each: ex.IsIn) -> str:
        values = ", ".join(self._all(each.values))
        listed = values if isinstance(each.values[0], ex.Subquery) else f"({values})"
        return f"({self.write(each.operand)} {_not(each.negated)}IN {listed})"

    def _like(self, each: ex.Like) -> str:
        escape = f" ESCAPE {text(each.escape)}" if each.escape else ""
        operand, pattern = self.write(each.operand), self.write(each.pattern)
        return f"({operand} {_not(each.negated)}LIKE {pattern}{escape})"

    def _call(self, each: ex.Call) -> str:
        return spark_call(each.name, self._all(each.arguments), distinct=each.distinct)

    def _cast(self, each: ex.Cast) -> str:
        return f"try_cast({self.write(each.operand)} AS {spark_type(each.type)})"

    def _case(self, each: ex.Case) -> str:
        operand = f" {self.write(each.operand)}" if each.operand is not None else ""
        branches = "".join(
            f" WHEN {self.write(when)} THEN {self.write(then)}" for when, then in each.branches
        )
        otherwise = f" ELSE {self.write(each.otherwise)}" if each.otherwise is not None else ""
        return f"CASE{operand}{branches}{otherwise} END"

    def _makearray(self, each: ex.MakeArray) -> str:
        return f"array({', '.join(self._all(each.items))})"

    def _makemap(self, each: ex.MakeMap) -> str:
        made = f"map({', '.join(self.write(part) for entry in each.entries for part in entry)})"
        keys = [self.write(key) for key, _ in each.entries if not isinstance(key, ex.Literal)]
        if not keys:
            return made
        there = " AND ".join(f"{key} IS NOT NULL" for key in keys)
        return f"CASE WHEN {there} THEN {made} END"

    def _makestruct(self, each: ex.MakeStruct) -> str:
        parts = (f"{text(name)}, {self.write(value)}" for name, value in each.fields)
        return f"named_struct({', '.join(parts)})"

    def _subquery(self, each: ex.Subquery) -> str:
        return f"({self._query_text(each.query)})"


def texts_of(name: str, kind: SqlType) -> dict[str, bool]:
    """Whether a column of that name holds text, and what is within it."""
    found = {name: kind.name == "VARCHAR"}
    for field, each in kind.fields:
        found |= texts_of(f"{name}->{field.upper()}", each)
    if kind.arguments:
        found |= texts_of(f"{name}[]", kind.arguments[-1])
    return found


def _path(each: ex.Expression, *, full: bool = True) -> str:
    """The name of a column, or of what is within one, as in ``texts_of``."""
    if isinstance(each, ex.Field):
        return f"{_path(each.of, full=full)}->{each.name.upper()}"
    if isinstance(each, ex.Element):
        return f"{_path(each.of, full=full)}[]"
    if isinstance(each, ex.Column):
        return f"{each.relation}.{each.name}" if full and each.relation else each.name
    return ""


def _is_number(each: ex.Expression) -> bool:
    if isinstance(each, ex.Unary):
        return each.operator == "-" and _is_number(each.operand)
    if not isinstance(each, ex.Literal) or isinstance(each.value, bool):
        return False
    return isinstance(each.value, int | float | Decimal)


def _not(negated: bool) -> str:
    return "NOT " if negated else ""


def is_aggregate(each: ex.Expression) -> bool:
    """Whether it has an aggregate function in it."""
    if isinstance(each, ex.Call) and each.name in {*AGGREGATES, *FOLDS}:
        return True
    return any(map(is_aggregate, children(each)))


def children(each: ex.Expression) -> list[ex.Expression]:
    """The expressions directly within one."""
    found: list[ex.Expression] = []
    for value in vars(each).values():
        found += _nested(value)
    return found


def with_parts(each: Any, change: Callable[[Any], Any]) -> Any:
    """The same with ``change`` applied to whatever is directly within it."""
    if isinstance(each, tuple):
        return tuple(change(part) for part in each)
    if isinstance(each, ex.Expression) and is_dataclass(each):
        changed = {f.name: change(getattr(each, f.name)) for f in fields(each)}
        return replace(each, **changed)
    return each


def _nested(value: object) -> list[ex.Expression]:
    if isinstance(value, tuple):
        return [each for part in value for each in _nested(part)]
    return [value] if isinstance(value, ex.Expression) else []
