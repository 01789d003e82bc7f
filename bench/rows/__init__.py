"""The rows, one module per family."""

from __future__ import annotations

from bench.row import Row
from bench.rows import (
    consuming,
    file_to_topic,
    idle,
    latency,
    memory,
    mirroring,
    offsets,
    rest,
    start_up,
    tables,
    topic_to_file,
    topic_to_index,
)

FAMILIES = (
    file_to_topic,
    topic_to_file,
    topic_to_index,
    tables,
    mirroring,
    latency,
    start_up,
    memory,
    idle,
    rest,
    offsets,
    consuming,
)
ROWS: dict[str, Row] = {row.name: row for family in FAMILIES for row in family.ROWS}
