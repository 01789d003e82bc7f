"""Keys of the offsets topic, as Kafka Connect writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.kafka.json_forms import dump


def in_order(partition: Mapping[str, Any], order: Sequence[str]) -> dict[str, Any]:
    """A source partition with its keys in the order that its connector declares."""
    return {key: partition[key] for key in order if key in partition} | dict(partition)


def offset_key(connector: str, partition: Mapping[str, Any]) -> bytes:
    """The key bytes of a partition that has none yet."""
    return dump([connector, dict(partition)])
