"""Aggregates over tables: those that can take back what a row had before it changed.

The new rows are those that have been added and those that are gone; ``partial`` is of one side.
"""

from __future__ import annotations

from penstock.sql.errors import StatementError
from penstock.sql.planning.folds import BY_PLACE, COUNTED, FOLDS, LISTED, PLACED, SUMMED, Fold

ADDED = "penstock_is_added"
SIDE = "{side}"
MINE = f"FILTER (WHERE {SIDE})"
LESS = (
    "named_struct('s', CASE WHEN coalesce({old}.n, 0) = {gone}.n THEN NULL "
    "WHEN {gone}.n = 0 THEN {old}.s ELSE try_subtract({old}.s, {gone}.s) END, "
    "'n', coalesce({old}.n, 0) - {gone}.n)"
)
PLACE_OF = "transform(l, (e, i) -> CASE WHEN e <=> x THEN i ELSE -1 END)"
WITHOUT = (
    "aggregate({gone}, coalesce({old}, array()), "
    f"(l, x) -> filter(l, (e, i) -> i <> coalesce(array_max({PLACE_OF}), -1)))"
)
"""Of each value that is gone the last one is taken out."""


def _summed(value: str, final: str) -> Fold:
    sums = f"named_struct('s', try_sum({value}) {MINE}, 'n', count({{0}}) {MINE})"
    return Fold(sums, SUMMED, final, undone=LESS)


TABLE_FOLDS = {
    "AVG": _summed("CAST({0} AS DOUBLE)", FOLDS["AVG"].final),
    "COLLECT_LIST": Fold(
        f"transform({BY_PLACE.format(of=f'{PLACED} {MINE}')}, e -> e.x)", LISTED, undone=WITHOUT
    ),
    "COUNT": Fold(f"count({{0}}) {MINE}", COUNTED, undone="coalesce({old}, 0) - {gone}"),
    "SUM": _summed("{0}", FOLDS["SUM"].final),
}


def refuse_what_stays(name: str, *, distinct: bool) -> None:
    """StatementError for an aggregate that cannot take back what it has got."""
    if distinct or (name in FOLDS and name not in TABLE_FOLDS):
        called = f"{name}(DISTINCT …)" if distinct else name
        known = ", ".join(TABLE_FOLDS)
        raise StatementError(
            f"The aggregate {called} cannot be applied to a table, only to a stream: it cannot "
            f"take back what a row had before it changed. Over tables there are {known}."
        )
