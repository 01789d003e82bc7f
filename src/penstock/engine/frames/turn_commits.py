"""What a turn that ends in a format commits: plans, offsets, and letters with either."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from penstock.engine.frames.frame_lease import FrameLease
from penstock.engine.frames.letters import send_letters
from penstock.engine.lease import producers
from penstock.engine.lease.dead_letters import Letter
from penstock.engine.lease.offset_copies import send_copies
from penstock.kafka.groups import Committed
from penstock.kafka.patience import Patience
from penstock.kafka.topics import PartitionId
from penstock.kafka.transactions import GroupOffsets


class TurnCommits:
    """The transactions of one turn, on the worker, with its membership (rule 3)."""

    def __init__(self, lease: FrameLease) -> None:
        """Fences whatever had the lease's id; KafkaFault."""
        self._lease = lease
        self._producer = producers.acquire(lease, Patience())

    def commit(
        self, offsets: Mapping[PartitionId, Committed], letters: Sequence[Letter] = ()
    ) -> None:
        """One transaction; KafkaFault, and FatalError if the letters' topic cannot be created."""
        lease, producer = self._lease, self._producer
        try:
            send_letters(lease, producer, letters)
            send_copies(producer, lease, offsets)
            producer.drain()
            entries = [(*position, *committed) for position, committed in offsets.items()]
            own = GroupOffsets(lease.group_metadata, entries)
            producer.commit([], [own, lease.membership.offsets()])
        except Exception:
            producer.abort()  # or the rejected transaction would block readers
            raise

    def keep(self) -> None:
        """The next turn on this worker may have the producer."""
        producers.keep(self._lease, self._producer)
