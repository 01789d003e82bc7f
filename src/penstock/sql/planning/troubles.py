"""Where an expression cannot be computed: conditions in Spark's SQL.

Expressions are written in forms that give NULL instead of an error. NULL out of what is not NULL is
a sign of such an error. What is never reached, such as the other branch of a CASE, is no trouble.
"""

from __future__ import annotations

from collections.abc import Callable

from penstock.sql.planning.expressions import children
from penstock.sql.planning.function_list import FAILING
from penstock.sql.statements import expressions as ex

TRIED = "try_"
NEVER = ""
Write = Callable[[ex.Expression], str]


class Troubles:
    """Conditions of what ``write`` writes."""

    def __init__(self, write: Write) -> None:
        self._write = write

    def of(self, each: ex.Expression) -> str:
        """When it cannot be computed; NEVER if it always can. The condition is never NULL."""
        if isinstance(each, ex.Binary) and each.operator.upper() in ("AND", "OR"):
            return self._reached(each)
        if isinstance(each, ex.Case):
            return self._case(each)
        return either(*map(self.of, children(each)), self._own(each))

    def _own(self, each: ex.Expression) -> str:
        if not self._may_fail(each):
            return NEVER
        given = [f"{self._write(child)} IS NOT NULL" for child in children(each)]
        return f"({' AND '.join([*given, f'{self._write(each)} IS NULL'])})"

    def _may_fail(self, each: ex.Expression) -> bool:
        if isinstance(each, ex.Cast):
            return each.type.name != "VARCHAR"
        if isinstance(each, ex.Call):
            return each.name in FAILING
        arithmetic = isinstance(each, ex.Binary | ex.Unary)
        return arithmetic and self._write(each).startswith(TRIED)

    def _reached(self, each: ex.Binary) -> str:
        """The right side counts only where the left one leaves the answer open."""
        left, right = self.of(each.left), self.of(each.right)
        settled = "FALSE" if each.operator.upper() == "AND" else "TRUE"
        open_ = f"NOT ({self._write(each.left)} <=> {settled})"
        return either(left, f"({open_} AND {right})" if right else NEVER)

    def _case(self, each: ex.Case) -> str:
        parts: list[str] = []
        for when, then in each.branches:
            meant = when if each.operand is None else ex.Binary("=", each.operand, when)
            parts.append(f"WHEN {self.of(meant) or 'FALSE'} THEN TRUE")
            parts.append(f"WHEN {self._write(meant)} THEN {self.of(then) or 'FALSE'}")
        otherwise = self.of(each.otherwise) if each.otherwise is not None else NEVER
        if not any(map(self.of, children(each))):
            return NEVER
        return f"(CASE {' '.join(parts)} ELSE {otherwise or 'FALSE'} END)"


def either(*conditions: str) -> str:
    """Whether one of them holds; those that never do are left out."""
    found = [each for each in conditions if each]
    return f"({' OR '.join(found)})" if len(found) > 1 else "".join(found)
