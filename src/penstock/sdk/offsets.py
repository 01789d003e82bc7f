"""Positions in a source, as a connector sees them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

SourcePartition = Mapping[str, Any]
"""Names one independent stream of the source, e.g. ``{"filename": "a.txt"}``."""

SourceOffset = Mapping[str, Any]
"""How far that stream has been read, e.g. ``{"position": 30}``."""

ChangedOffset = tuple[SourcePartition, SourceOffset | None]
"""A source partition and its new offset; None forgets the partition, as if it was never read."""


_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def canonical(partition: SourcePartition) -> str:
    """One text for equal partitions, whatever the order of their keys."""
    return _CANONICAL.encode(partition)


class OffsetReader:
    """The committed offsets of one connector: a snapshot, safe to keep and to share."""

    def __init__(self, offsets: Iterable[tuple[SourcePartition, SourceOffset]] = ()) -> None:
        self._offsets = {canonical(p): (dict(p), dict(o)) for p, o in offsets}

    def get(self, partition: SourcePartition) -> dict[str, Any] | None:
        """The committed offset of ``partition``, or None if it has none."""
        found = self._offsets.get(canonical(partition))
        return dict(found[1]) if found else None

    def get_many(self, partitions: Collection[SourcePartition]) -> list[dict[str, Any] | None]:
        """The committed offset of each of ``partitions``, or None, in the same order."""
        return [self.get(partition) for partition in partitions]

    def __iter__(self) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        return ((dict(p), dict(o)) for p, o in self._offsets.values())

    def __len__(self) -> int:
        return len(self._offsets)
