"""Instances of one name that share the partitions of a topic, by Kafka's own group protocol."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from queue import SimpleQueue
from typing import Any, Protocol

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from penstock.consumers.errors import NameHeld
from penstock.consumers.holding.absence import Stored
from penstock.consumers.holding.member import COMMIT_SECONDS, LONGEST_POLL_MS, SESSION_MS
from penstock.consumers.options import Options
from penstock.consumers.reading.fetching import READER_SETTINGS, Fetcher, fetching
from penstock.consumers.reading.progress import Batch, Offsets
from penstock.consumers.registry.holder import Holder
from penstock.kafka import clients, groups
from penstock.kafka.clients import Connection, GroupAdmin
from penstock.kafka.errors import BrokerUnavailable, describe
from penstock.kafka.topics import PartitionId


class Lost(Protocol):
    """Hears which partitions others read from now on."""

    def __call__(self, partitions: frozenset[int], *, still_ours: bool) -> None:
        """``still_ours``: whether what is done of them can be stored yet."""


class SharedReading:
    """Reads what the group gives it. Belongs to one thread, but for ``commit``."""

    def __init__(
        self,
        connection: Connection,
        admin: GroupAdmin,
        options: Options,
        *,
        on_gained: Callable[[frozenset[int]], Offsets],
        on_lost: Lost,
        on_failed: Callable[[], None],
        when_gone: Callable[[int], int],
    ) -> None:
        """NameHeld if a process holds the name for itself.

        ``on_failed`` is called if what was to be committed was not stored.
        """
        self.holder = Holder.here()
        self.fenced = self.lost = False
        self.finished = False
        self._topic = options.topic
        self._on_gained = on_gained
        self._on_lost = on_lost
        self._on_failed = on_failed
        self._mine: frozenset[int] = frozenset()
        self._last: Offsets = {}
        self._polling = threading.RLock()
        self._waiting: SimpleQueue[list[TopicPartition]] = SimpleQueue()
        self._group = options.name or ""
        self._admin = admin
        self._refused: NameHeld | None = None
        _refuse_held(admin, self._group)
        self._consumer = clients.group_consumer(
            clients.reader_settings(
                connection,
                committed=options.committed_only,
                group=self._group,
                **settings_of(options),
            )
        )
        self._fetcher = Fetcher(self._consumer, self._topic, self._group, when_gone)
        self._consumer.subscribe(
            [self._topic], on_assign=self._gained, on_revoke=self._revoked, on_lost=self._lost
        )

    def take(self, patience: float) -> Batch:
        """What is there; waits up to ``patience`` seconds for a first record.

        NameHeld if a process holds the name for itself, and was not seen before.
        """
        with self._polling:
            self._commit_waiting()
            batch = self._fetcher.take(patience)
            if self._refused is not None:
                self._consumer.unsubscribe()
                raise self._refused
            return batch

    def commit(self, offsets: Mapping[PartitionId, int]) -> Mapping[PartitionId, int]:
        """Store positions of partitions that are this instance's; others are left alone. Those
        that are stored, or will be as soon as the client has time for it."""
        committed = [TopicPartition(t, p, o) for (t, p), o in offsets.items()]
        if self._polling.acquire(blocking=False):
            try:
                taken = self._commit(committed)
            finally:
                self._polling.release()
        else:
            # The client blocks while it is polled: the polling thread commits.
            taken = self._ours(committed)
            self._waiting.put(taken)
        return {(each.topic, each.partition): each.offset for each in taken}

    def _commit_waiting(self) -> None:
        while not self._waiting.empty():
            self._commit(self._waiting.get())

    def _commit(self, offsets: list[TopicPartition]) -> list[TopicPartition]:
        """Store those of ours; which were."""
        new = self._ours(offsets)
        if not new:
            return []
        try:
            self._consumer.commit(offsets=new, asynchronous=False)
        except KafkaException as error:
            if error.args[0].code() in _PASSED_ON:
                return []
            self._on_failed()
            raise BrokerUnavailable(describe(error)) from error
        self._last.update({o.partition: o.offset for o in new})
        return new

    def _ours(self, offsets: list[TopicPartition]) -> list[TopicPartition]:
        """Those of partitions that are still ours, and not what has waited for too long."""
        return [o for o in offsets if o.partition in self._mine and self._is_newer(o)]

    def _is_newer(self, offset: TopicPartition) -> bool:
        return offset.offset >= self._last.get(offset.partition, 0)

    def release(self, *, leave: bool = False) -> None:
        """Nothing: the group learns it from ``close``."""

    def regain(self, stored: Stored) -> None:
        """Nothing: it is not lost for long, since its group takes it in again."""

    def extend(self, starts: Offsets) -> None:
        """Nothing to do: its group is given new partitions by Kafka."""

    def fetch_anew(self, offsets: Offsets) -> None:
        """Begin again at ``offsets``, in what is still this instance's."""
        with self._polling:
            self._fetcher.begin({p: offset for p, offset in offsets.items() if p in self._mine})

    def close(self) -> None:
        """Leave the group."""
        self._consumer.close()

    def _gained(self, _: Consumer, partitions: list[TopicPartition]) -> None:
        """Looks once more then: one that holds the name may have come after the first look."""
        self._mine = frozenset(each.partition for each in partitions)
        self._last = {}
        try:
            _refuse_held(self._admin, self._group)
        except NameHeld as error:
            self._refused, self._mine = error, frozenset()
        self._fetcher.begin(self._on_gained(self._mine) if self._mine else {})

    def _revoked(self, consumer: Consumer, _: list[TopicPartition]) -> None:
        self._on_lost(self._mine, still_ours=True)
        self._commit_waiting()  # what counts as stored and has waited for this thread
        self._mine = frozenset()
        consumer.unassign()

    def _lost(self, consumer: Consumer, _: list[TopicPartition]) -> None:
        self._on_lost(self._mine, still_ours=False)
        self._mine = frozenset()
        consumer.unassign()


_PASSED_ON = frozenset(
    {
        KafkaError.REBALANCE_IN_PROGRESS,
        KafkaError.ILLEGAL_GENERATION,
        KafkaError.UNKNOWN_MEMBER_ID,
        KafkaError._NO_OFFSET,
    }
)
"""Others read on from what was stored before: that is what sharing means."""


def settings_of(options: Options) -> dict[str, Any]:
    """How the client is to fetch and to be a member."""
    return {
        **READER_SETTINGS,
        **fetching(options),
        "group.protocol": "classic",
        "session.timeout.ms": SESSION_MS,
        "max.poll.interval.ms": LONGEST_POLL_MS,
        "partition.assignment.strategy": "range",
        "allow.auto.create.topics": False,
        # How soon partitions that were added are assigned.
        "topic.metadata.refresh.interval.ms": 60_000,
        "socket.timeout.ms": int(COMMIT_SECONDS * 1000),
    }


def _refuse_held(admin: GroupAdmin, name: str) -> None:
    held = [slot for slot in groups.static_members(admin, name) if slot is not None]
    if held:
        raise NameHeld(
            f'consumer "{name}" is held by a process that reads {held[0]} alone: stop it first; if '
            f"it has ended, its name is free again after {SESSION_MS // 1000} s."
        )
