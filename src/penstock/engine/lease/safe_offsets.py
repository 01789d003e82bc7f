"""How much of what a sink lease has read may be committed: what its task says is safe."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.kafka.groups import Committed
from penstock.kafka.topics import PartitionId
from penstock.sdk.tasks import Flushed

Given = Mapping[PartitionId, tuple[int, int]]
"""The first uncommitted offset of what a task was given of a partition, and the one after it."""


def as_flushed(answer: str | Flushed) -> Flushed:
    """A text alone: everything is safe, and the text is for every partition."""
    return answer if isinstance(answer, Flushed) else Flushed(answer)


def text_of(flushed: Flushed, position: PartitionId, before: str) -> str:
    """The metadata to commit with this partition, which had ``before``."""
    if isinstance(flushed.metadata, str):
        return flushed.metadata
    return flushed.metadata.get(position, before)


def safe_positions(
    flushed: Flushed,
    ends: Mapping[PartitionId, int],
    before: Mapping[PartitionId, Committed],
    given: Given,
) -> dict[PartitionId, Committed]:
    """Offset and metadata of each of ``ends``, which is how far the lease has read."""
    return {
        position: (
            _safe_offset(flushed, position, end, before, given),
            text_of(flushed, position, before.get(position, (0, ""))[1]),
        )
        for position, end in ends.items()
    }


def _safe_offset(
    flushed: Flushed,
    position: PartitionId,
    end: int,
    before: Mapping[PartitionId, Committed],
    given: Given,
) -> int:
    first, after = given.get(position, (0, 0))
    if flushed.offsets is None or first >= after:
        return end
    start, _ = before[position]
    safe = flushed.offsets.get(position, start)
    # After the last record there may be markers, which no task ever sees.
    return end if safe >= after else min(max(safe, start), end)
