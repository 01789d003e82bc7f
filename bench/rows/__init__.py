"""The rows, one module per family."""

from __future__ import annotations

from bench.row import Row
from bench.rows import (
    by_hand,
    consuming,
    file_to_topic,
    growing,
    idle,
    idle_look,
    latency,
    many_queries,
    memory,
    mirroring,
    objects_to_topic,
    offsets,
    rest,
    sql_queries,
    start_up,
    tables,
    thousand,
    topic_to_file,
    topic_to_index,
    topic_to_objects,
    transformed,
    trickle,
    turn_cost,
)

FAMILIES = (
    file_to_topic,
    transformed,
    topic_to_file,
    topic_to_index,
    tables,
    mirroring,
    growing,
    objects_to_topic,
    topic_to_objects,
    latency,
    trickle,
    thousand,
    start_up,
    memory,
    idle,
    idle_look,
    rest,
    offsets,
    consuming,
    sql_queries,
    many_queries,
    by_hand,
    turn_cost,
)
ROWS: dict[str, Row] = {row.name: row for family in FAMILIES for row in family.ROWS}
