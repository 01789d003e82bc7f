"""Everything a sink's group has ever committed, as passed to its tasks.

The broker forgets the offsets of a deleted topic, and with them the commit metadata: the state of
the sink's target. The copies, and the reports of leases, still have it.
"""

from __future__ import annotations

from collections.abc import Mapping

from penstock.kafka.groups import Committed
from penstock.kafka.topics import PartitionId
from penstock.sdk.tasks import CommittedOffset


class GroupPositions:
    """The last known commit of every partition, including deleted ones."""

    def __init__(self) -> None:
        self._known: dict[PartitionId, Committed] = {}

    def begin(self, copies: Mapping[PartitionId, Committed]) -> None:
        """Start with the copies, read to their end: what was reset is not in them."""
        self._known = dict(copies)

    def note(self, committed: Mapping[PartitionId, Committed]) -> None:
        """Add what the group has, or a lease has just committed."""
        self._known.update(committed)

    def all(self) -> tuple[CommittedOffset, ...]:
        """For a lease."""
        return tuple(
            CommittedOffset(topic, partition, offset, metadata)
            for (topic, partition), (offset, metadata) in sorted(self._known.items())
        )
