"""The compacted copy of sink positions, from which they are restored after they expired.

A copy belongs to a connector *and* its group: a connector that is given another group continues
from that group's offsets, not from those of its previous group.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from penstock.kafka.groups import Committed
from penstock.kafka.json_forms import dump
from penstock.kafka.names import sink_group
from penstock.kafka.topics import PartitionId

PREFIX = "sink-position"


class SinkGroup(NamedTuple):
    """A sink connector, and the consumer group in which it keeps its offsets."""

    connector: str
    group_id: str


class Copy(NamedTuple):
    """The content of a record; without a position, the copy was deleted."""

    sink: SinkGroup
    partition: PartitionId
    committed: Committed | None
    topic_id: str | None = None
    """The id of the topic that was read: a recreated topic has the same name but another id."""


def copy_key(sink: SinkGroup, topic: str, partition: int) -> bytes:
    """The key of the copy of one partition's position; it includes a group that the user chose."""
    chosen = [] if sink.group_id == sink_group(sink.connector) else [sink.group_id]
    return dump([PREFIX, sink.connector, topic, partition, *chosen])


def copy_value(offset: int, metadata: str, topic_id: str | None = None) -> bytes:
    """The value of the copy."""
    known = {} if topic_id is None else {"topic.id": topic_id}
    return dump({"offset": offset, "metadata": metadata, **known})


def parse_copy(key: bytes, value: bytes | None) -> Copy | None:
    """None if the record is something else."""
    parts = _parts(key)
    if parts is None:
        return None
    connector, topic, partition, *chosen = parts
    sink = SinkGroup(connector, chosen[0] if chosen else sink_group(connector))
    if value is None:
        return Copy(sink, (topic, partition), None)
    body = json.loads(value)
    return Copy(sink, (topic, partition), (body["offset"], body["metadata"]), body.get("topic.id"))


def _parts(key: bytes) -> list[Any] | None:
    try:
        parts = json.loads(key)
    except ValueError:
        return None
    if not isinstance(parts, list) or len(parts) not in (4, 5) or parts[0] != PREFIX:
        return None
    return parts[1:] if all(isinstance(chosen, str) for chosen in parts[4:]) else None
