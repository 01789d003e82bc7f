"""The rows, one module per family."""

from __future__ import annotations

from bench.row import Row
from bench.rows import (
    consuming,
    file_to_topic,
    idle,
    latency,
    memory,
    offsets,
    rest,
    start_up,
    topic_to_file,
    topic_to_index,
    trickle,
)

FAMILIES = (
    file_to_topic,
    topic_to_file,
    topic_to_index,
    latency,
    trickle,
    start_up,
    memory,
    idle,
    rest,
    offsets,
    consuming,
)
ROWS: dict[str, Row] = {row.name: row for family in FAMILIES for row in family.ROWS}
