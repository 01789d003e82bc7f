"""Aggregates of sessions, of which several may become one.

What was kept of each is merged as ``folds`` says, in the order of their times. Where the order of
rows counts, their places are kept as well: here they are comparable from turn to turn.
"""

from __future__ import annotations

from penstock.sql.planning.folds import BY_PLACE, FOLDS, LISTED, PLACE, PLACED, Fold

ONE = f"(struct({PLACE} AS p, {{0}} AS x), {PLACE}) FILTER (WHERE {{0}} IS NOT NULL)"
CHOSEN = "CASE WHEN {old} IS NULL OR {new}.p %s {old}.p THEN {new} ELSE {old} END"

SESSION_FOLDS = {
    **FOLDS,
    "COLLECT_LIST": Fold(
        BY_PLACE.format(of=PLACED), BY_PLACE.format(of=LISTED), "transform({kept}, e -> e.x)"
    ),
    "EARLIEST_BY_OFFSET": Fold(f"min_by{ONE}", CHOSEN % "<", "{kept}.x"),
    "LATEST_BY_OFFSET": Fold(f"max_by{ONE}", CHOSEN % ">", "{kept}.x"),
}
