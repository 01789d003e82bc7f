"""The compacted copy of sink positions, from which they are restored after they expired."""

from __future__ import annotations

import json

from penstock.kafka.groups import Committed
from penstock.kafka.json_forms import dump
from penstock.kafka.topics import Position

PREFIX = "sink-position"


def copy_key(connector: str, topic: str, partition: int) -> bytes:
    """The key of the copy of one partition's position."""
    return dump([PREFIX, connector, topic, partition])


def copy_value(offset: int, metadata: str) -> bytes:
    """What the copy says."""
    return dump({"offset": offset, "metadata": metadata})


def parse_copy(key: bytes, value: bytes | None) -> tuple[str, Position, Committed | None] | None:
    """Connector, partition and position (None: forgotten); None if the record is something else."""
    try:
        parts = json.loads(key)
    except ValueError:
        return None
    if not isinstance(parts, list) or len(parts) != 4 or parts[0] != PREFIX:
        return None
    _, connector, topic, partition = parts
    if value is None:
        return connector, (topic, partition), None
    body = json.loads(value)
    return connector, (topic, partition), (body["offset"], body["metadata"])
