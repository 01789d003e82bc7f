"""Aggregates that are computed bit by bit: what is kept of a group, and how more rows change it.

Each has three texts for Spark: ``partial`` is an aggregate over new rows, and what is kept of them;
``merged`` joins that (``{new}``) with what was kept before (``{old}``, NULL for a new group); and
``final`` makes the result of what is kept. Arguments are ``{0}`` and ``{1}``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from penstock.sql.errors import NotSupportedYet, StatementError
from penstock.sql.statements import expressions as ex

ARGUMENT = re.compile(r"\{(\d)\}")
PLACE = "penstock_place"
"""The column that tells which of two rows came later."""


@dataclass(frozen=True)
class Fold:
    """How one function is computed; ``{kept}`` in ``final`` is what is kept."""

    partial: str
    merged: str
    final: str = "{kept}"
    arguments: int = 1
    undone: str = ""
    """Of tables: what is left of ``{old}`` without ``{gone}``, what rows had that have changed."""


COUNTED = "coalesce({old}, 0) + {new}"
SUMMED = (
    "named_struct('s', CASE WHEN coalesce({old}.n, 0) = 0 THEN {new}.s WHEN {new}.n = 0 "
    "THEN {old}.s ELSE try_add({old}.s, {new}.s) END, 'n', coalesce({old}.n, 0) + {new}.n)"
)
"""Once it is too large, a sum stays NULL: rows that come later do not begin another."""
LISTED = "concat(coalesce({old}, array()), {new})"
PLACED = f"collect_list(struct({PLACE} AS p, {{0}} AS x))"
BY_PLACE = "array_sort({of}, (a, b) -> CASE WHEN a.p < b.p THEN -1 ELSE 1 END)"
IN_ORDER = f"transform({BY_PLACE.format(of=PLACED)}, e -> e.x)"
LARGEST = "slice(sort_array({of}, false), 1, {{1}})"

FOLDS = {
    "AVG": Fold(
        "named_struct('s', try_sum(CAST({0} AS DOUBLE)), 'n', count({0}))",
        SUMMED,
        "try_divide({kept}.s, {kept}.n)",
    ),
    "COLLECT_LIST": Fold(IN_ORDER, LISTED),
    "COLLECT_SET": Fold(
        "array_sort(collect_set({0}))", "array_union(coalesce({old}, array()), {new})"
    ),
    "COUNT": Fold("count({0})", COUNTED),
    "COUNT_DISTINCT": Fold(
        "hll_sketch_agg(CAST({0} AS STRING))",
        "CASE WHEN {old} IS NULL THEN {new} ELSE hll_union({old}, {new}) END",
        "hll_sketch_estimate({kept})",
    ),
    "EARLIEST_BY_OFFSET": Fold(
        f"min_by({{0}}, {PLACE}) FILTER (WHERE {{0}} IS NOT NULL)", "coalesce({old}, {new})"
    ),
    "LATEST_BY_OFFSET": Fold(
        f"max_by({{0}}, {PLACE}) FILTER (WHERE {{0}} IS NOT NULL)", "coalesce({new}, {old})"
    ),
    "MAX": Fold("max({0})", "greatest({old}, {new})"),
    "MIN": Fold("min({0})", "least({old}, {new})"),
    "SUM": Fold("named_struct('s', try_sum({0}), 'n', count({0}))", SUMMED, "{kept}.s"),
    "TOPK": Fold(LARGEST.format(of="collect_list({0})"), LARGEST.format(of=LISTED), arguments=2),
    "TOPKDISTINCT": Fold(
        LARGEST.format(of="collect_set({0})"),
        LARGEST.format(of=f"array_distinct({LISTED})"),
        arguments=2,
    ),
}
OF_ITS_ARGUMENT = {"EARLIEST_BY_OFFSET", "LATEST_BY_OFFSET", "MAX", "MIN"}
"""Those that give text if their argument is text."""


@dataclass(frozen=True)
class Folding:
    """One call in a query; all are texts for Spark."""

    partial: str
    _merged: str
    _final: str
    _undone: str = ""

    def merged(self, old: str, new: str) -> str:
        """What is kept after ``new``; ``old`` is what was kept before."""
        return self._merged.replace("{old}", old).replace("{new}", new)

    def undone(self, old: str, gone: str) -> str:
        """What is kept without ``gone``."""
        return self._undone.replace("{old}", old).replace("{gone}", gone)

    def final(self, kept: str) -> str:
        """The result."""
        return self._final.replace("{kept}", kept)


def folding(call: ex.Call, arguments: list[str], folds: Mapping[str, Fold] = FOLDS) -> Folding:
    """How ``call`` is computed with these folds; StatementError if it cannot be."""
    name = call.name
    if call.distinct:
        if name != "COUNT":
            raise NotSupportedYet(f"{name}(DISTINCT …) in a persistent query")
        name = "COUNT_DISTINCT"
    fold = folds.get(name)
    if fold is None:
        raise NotSupportedYet(f"the aggregate {name} in a persistent query")
    if len(arguments) != fold.arguments and not (name == "COUNT" and not arguments):
        raise StatementError(
            f"{name} takes {fold.arguments} argument{'s'[: fold.arguments - 1]} here, "
            f"not {len(arguments)}."
        )
    if fold.arguments > 1 and not _is_count(call.arguments[1]):
        raise StatementError(f"{name} needs a whole number as its second argument.")
    given = arguments or ["*"]
    texts = (fold.partial, fold.merged, fold.final, fold.undone)
    return Folding(*(_filled(each, given) for each in texts))


def _filled(template: str, arguments: list[str]) -> str:
    return ARGUMENT.sub(lambda found: arguments[int(found[1])], template)


def _is_count(each: ex.Expression) -> bool:
    return isinstance(each, ex.Literal) and type(each.value) is int and each.value > 0
