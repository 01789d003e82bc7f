"""A worker's own writes of a sink's offsets, while no lease of the sink runs.

Fence, read, write, in this order: creating an instance fences every task of the sink; then the
caller reads what to write, and writes it in a transaction of a task's id with this worker's
membership. A take-over, stop or alter of the sink in between fences in turn: a worker that was
frozen, or that gave up waiting for an answer, can then no longer change anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from penstock.kafka import groups, transactions
from penstock.kafka.clients import group_metadata
from penstock.kafka.errors import KafkaFault
from penstock.kafka.groups import Committed, GroupInUse
from penstock.kafka.names import transactional_id
from penstock.kafka.sink_copies import SinkGroup
from penstock.kafka.topics import PartitionId
from penstock.kafka.transactions import GroupOffsets, Transactions
from penstock.runtime.running.context import Context
from penstock.runtime.stores.position_copies import Record


class SinkWrites:
    """Single use: create it, read, ``write``. Raises KafkaFault."""

    def __init__(self, context: Context, sink: SinkGroup) -> None:
        self._context = context
        self._sink = sink
        # Taken before anything is read: under a later one, others may have moved the sink.
        self._membership = context.membership()
        count = max(1, context.configs.fenced_tasks(sink.connector))
        group = context.worker.group_id
        first, *others = (transactional_id(group, sink.connector, task) for task in range(count))
        transactions.fence(context.connection, others)
        self._producer = Transactions(context.connection, first)

    def write(
        self, offsets: Mapping[PartitionId, Committed], records: Iterable[Record] = ()
    ) -> None:
        """Commit offsets with their metadata, and records, all or nothing.

        GroupInUse if the group has members: Kafka would accept the offsets anyway.
        """
        sink, context, more = self._sink, self._context, list(records)
        if not offsets and not more:
            return
        if groups.members(context.admin, sink.group_id):
            raise GroupInUse(f"group {sink.group_id} has members")
        entries = [(*position, *committed) for position, committed in offsets.items()]
        metadata = group_metadata(context.connection, sink.group_id)
        own = [GroupOffsets(metadata, entries)] if entries else []
        try:
            for topic, key, value, partition in more:
                self._producer.send(topic, value, key, partition=partition)
            self._producer.commit([], [*own, self._membership.offsets()])
        except KafkaFault:
            self._producer.abort()  # or the rejected transaction would block readers
            raise
