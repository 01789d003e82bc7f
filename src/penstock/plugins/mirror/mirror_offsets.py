"""How far partitions are mirrored: MirrorMaker's source partitions and offsets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from penstock.sdk.errors import OffsetError
from penstock.sdk.offsets import OffsetReader

CLUSTER: Final = "cluster"
PARTITION: Final = "partition"
TOPIC: Final = "topic"
OFFSET: Final = "offset"
TOPIC_ID: Final = "topic.id"
PARTITION_KEYS: Final = (CLUSTER, PARTITION, TOPIC)
"""In the order in which MirrorMaker writes them: that of a Java map."""


class MirroredPartition(NamedTuple):
    """A partition of the source cluster. A topic that is created again has another id."""

    topic: str
    partition: int
    topic_id: str = ""

    def source_partition(self, alias: str) -> dict[str, Any]:
        """As it is stored."""
        return {CLUSTER: alias, PARTITION: self.partition, TOPIC: self.topic}

    def source_offset(self, last: int) -> dict[str, Any]:
        """As it is stored, once everything up to and including ``last`` is mirrored."""
        return {OFFSET: last, **({TOPIC_ID: self.topic_id} if self.topic_id else {})}

    def stored(self, alias: str, offsets: OffsetReader) -> dict[str, Any] | None:
        """What is stored of it."""
        return offsets.get(self.source_partition(alias))

    def is_other(self, stored: Mapping[str, Any]) -> bool:
        """Whether ``stored`` is of a former topic of this name."""
        known = stored.get(TOPIC_ID)
        return bool(known and self.topic_id and known != self.topic_id)

    def next(self, alias: str, offsets: OffsetReader) -> int | None:
        """The offset to go on at; None if nothing of this topic was mirrored yet."""
        stored = self.stored(alias, offsets)
        if stored is None or self.is_other(stored):
            return None
        return int(stored[OFFSET]) + 1


def check_alteration(partition: Mapping[str, Any] | None, offset: Mapping[str, Any] | None) -> None:
    """Refuse what no task could continue from; anything may be reset."""
    if offset is None:
        return
    named = partition is not None and all(
        isinstance(partition.get(key), str) for key in (CLUSTER, TOPIC)
    )
    if partition is None or not named or not _is_count(partition.get(PARTITION)):
        raise OffsetError(
            f'A source partition must be of the form {{"{CLUSTER}": "alias of the source", '
            f'"{PARTITION}": 0, "{TOPIC}": "name"}}.'
        )
    if not {OFFSET} <= set(offset) <= {OFFSET, TOPIC_ID} or not _is_count(offset.get(OFFSET)):
        raise OffsetError(
            f'An offset must be of the form {{"{OFFSET}": 41}}, the offset of the last record that '
            "counts as mirrored; null begins again."
        )


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63
