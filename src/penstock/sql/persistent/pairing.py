"""A turn of a join of two streams, or of two tables: a frame of records into one of changes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from penstock.sdk.frames import FrameTurn
from penstock.sql.catalog.source import Source
from penstock.sql.errors import StatementError
from penstock.sql.persistent.added_columns import Stage
from penstock.sql.persistent.aggregating import asked
from penstock.sql.persistent.pair_stages import PairAccess, number_of, pair_columns, ranges_of
from penstock.sql.persistent.state_stages import StateAccess
from penstock.sql.persistent.stream_join import JoinStreams
from penstock.sql.persistent.table_pairs import JoinTables
from penstock.sql.planning.joins import Pairing
from penstock.sql.planning.pair_text import changes, pairing_of, sided
from penstock.sql.planning.persistent import PersistentPlan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def paired(
    records: DataFrame, plan: PersistentPlan, sink: Source, state_topic: str, access: PairAccess
) -> DataFrame:
    """The changes that ``records``, one partition of Spark's, make."""
    from pyspark.sql.pandas.types import to_arrow_schema

    rows = asked(records, lambda view: sided(plan, view))
    columns = pair_columns()
    stage = _stage(pairing_of(plan), access, to_arrow_schema(columns))
    pairs = rows.mapInArrow(stage, columns)
    return asked(pairs, lambda view: changes(plan, sink, state_topic, view))


def _stage(pairing: Pairing, access: PairAccess, schema: pa.Schema) -> Stage:
    if pairing.window is None:
        return JoinTables(access, pairing.needed, schema)
    return JoinStreams(access, pairing.window, pairing.outer, pairing.by_key, schema)


def pair_access(plan: PersistentPlan, state: StateAccess, turn: FrameTurn) -> PairAccess:
    """How the state and the ends of a turn are reached. StatementError if topics do not fit."""
    topics = [source.topic for source in plan.sources]
    ends = {
        number_of(topics.index(topic), partition): end
        for (topic, partition), end in turn.side_ends.items()
        if topic in topics
    }
    if pairing_of(plan).by_key:
        _refuse_uneven(plan, [sum(1 for n in ends if n % 2 == side) for side in (0, 1)])
    return PairAccess(replace(state, ranges=ranges_of(turn.ranges, topics)), ends)


def _refuse_uneven(plan: PersistentPlan, counts: list[int]) -> None:
    left, right = counts
    if left != right and left and right:
        first, second = plan.sources
        raise StatementError(
            f"Topic {first.topic} of {first.name} has {left} partitions, and {second.topic} of "
            f"{second.name} has {right}: both must have as many."
        )
