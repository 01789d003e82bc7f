"""Keeps a consumer's place: holds its name, knows where it stood, stores where it stands."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Protocol

from penstock.consumers.errors import SessionOver
from penstock.consumers.holding.absence import Stored
from penstock.consumers.holding.hold import Hold
from penstock.consumers.options import Options
from penstock.consumers.reading.progress import Offsets
from penstock.consumers.reading.starting import Ranges, added_since, starts, stored_offsets
from penstock.consumers.registry.entries import Entry, RegistryKey, Snapshot, now
from penstock.consumers.registry.holder import Holder
from penstock.consumers.registry.registry import Registry
from penstock.consumers.topic import Topic
from penstock.kafka.clients import Connection, GroupAdmin
from penstock.kafka.errors import BrokerUnavailable, KafkaFault
from penstock.kafka.topics import PartitionId

SEEN_SECONDS = 60.0
"""How often a consumer that reads nothing says that it is still there, unless its TTL is short."""


class Right(Protocol):
    """The right to commit under a name."""

    @property
    def holder(self) -> Holder:
        """Who has it."""

    @property
    def fenced(self) -> bool:
        """Whether another process has it."""

    @property
    def lost(self) -> bool:
        """Whether it must be checked if another process has it."""

    def commit(self, offsets: Mapping[PartitionId, int]) -> Mapping[PartitionId, int]:
        """Store positions; those of them that it was right to store. Fenced if another process has
        the right by now, SessionOver if lost."""

    def regain(self, stored: Stored) -> None:
        """Have it again if it was lost and no other process came; Fenced if one did."""

    def release(self, *, leave: bool = False) -> None:
        """Give it back; ``leave`` if the next one may be of another kind."""


class Keeper:
    """Of one name and one topic. ``store`` and ``release`` belong to one thread at a time."""

    def __init__(
        self,
        options: Options,
        connection: Connection,
        admin: GroupAdmin,
        topic: Topic,
        *,
        on_trouble: Callable[[], None] = lambda: None,
    ) -> None:
        """``on_trouble`` is called, on any thread, when it may be ``fenced`` or ``lost``."""
        self.name = options.name or ""
        self.every = SEEN_SECONDS
        self.resumed: frozenset[int] = frozenset()
        """The partitions in which it went on from what was stored."""
        self._options = options
        self._on_trouble = on_trouble
        self._connection = connection
        self._admin = admin
        self.topic = topic
        """As it is now: it may get more partitions."""
        self._registry = Registry(connection, admin)
        self._right: Right | None = None
        self._stored: Offsets = {}
        self._in_group: dict[int, set[int]] = {}
        """What the group has of each partition: more than one where that is not known for sure."""
        self._seen = time.monotonic()

    @property
    def holds(self) -> bool:
        """Whether it may store."""
        return self._right is not None

    @property
    def fenced(self) -> bool:
        """Whether another process has taken over the name."""
        return self._right is not None and self._right.fenced

    @property
    def lost(self) -> bool:
        """Whether it must be checked first if another process has taken over the name."""
        return self._right is not None and self._right.lost

    def regain(self) -> None:
        """Go on with a name that was lost, if no other process used it meanwhile; else Fenced."""
        if self._right is None or not self._right.lost:
            return
        if not self._in_group:
            raise BrokerUnavailable(
                f'consumer "{self.name}" lost its name before it could start: open it again'
            )
        try:
            self._right.regain({(self.topic.name, p): s for p, s in self._in_group.items()})
        except KafkaFault as error:
            raise BrokerUnavailable(
                f'consumer "{self.name}" lost its session and cannot reach '
                f"the brokers to make sure that no other process has the name ({error})"
            ) from error
        self.forget()  # the registry is to know the new member

    def hold(self) -> None:
        """Become the only one who stores under the name; NameHeld if another does."""
        self._registry.ensure()
        hold = Hold(
            self._connection,
            self._admin,
            self._registry,
            self.name,
            self._options.slot,
            on_trouble=self._on_trouble,
        )
        hold.take(take_over=self._options.take_over)
        self._right = hold

    def share(self, right: Right) -> None:
        """Store with a right that is shared with others, partition by partition."""
        self._registry.ensure()
        self._right = right

    def starts(self, ranges: Ranges) -> Offsets:
        """Where to begin in the partitions of ``ranges``."""
        options = self._options
        snapshot = self._registry.read()
        stored = stored_offsets(self._admin, snapshot, self.name, self.topic)
        self.every = self._how_often(snapshot)
        known = {p: offset for p, offset in stored.items() if p in ranges.first}
        self.resumed = frozenset(() if options.reset else known)
        return starts(
            known,
            ranges,
            added=added_since(snapshot, self.name, self.topic),
            start=options.start,
            reset=options.reset,
            when_gone=options.when_gone,
            name=f'consumer "{self.name}"',
        )

    def _how_often(self, snapshot: Snapshot) -> float:
        key = RegistryKey(self.name, self.topic.name, 0)
        ttl = self._options.ttl_ms or snapshot.ttl(key, self.topic.id)
        return SEEN_SECONDS if ttl is None else min(SEEN_SECONDS, ttl / 3000)

    def register(self, begin: Mapping[int, int]) -> None:
        """Be listed before anything was read, and be visible in the group."""
        if self._options.ttl_ms is not None:
            self._registry.write_ttl(self.name, self._options.ttl_ms)
        self.store(begin)
        self._registry.flush()

    def store(self, offsets: Mapping[int, int], *, released: bool = False) -> None:
        """Store what is new of these; now and then all, which says that the consumer is there."""
        self.regain()
        try:
            self._store_new(offsets, released=released)
        except SessionOver:
            self.regain()
            self._store_new(offsets, released=released)

    def _store_new(self, offsets: Mapping[int, int], *, released: bool) -> None:
        new = {p: offset for p, offset in offsets.items() if self._stored.get(p) != offset}
        if released or time.monotonic() - self._seen >= self.every:
            new = dict(offsets)
        if new:
            self._store(new, released=released)

    def _store(self, offsets: Mapping[int, int], *, released: bool) -> None:
        """In the group first: what may not be committed there is not in the registry either."""
        right, topic = self._right, self.topic
        assert right is not None  # noqa: S101 (asked before)
        taken = self._commit(right, offsets)
        self._stored.update(taken)
        self._seen = time.monotonic()
        self._registry.write(
            {
                RegistryKey(self.name, topic.name, p): self._entry(right, offset, released=released)
                for p, offset in taken.items()
            }
        )

    def _commit(self, right: Right, offsets: Mapping[int, int]) -> Offsets:
        for partition in offsets.keys() & self._in_group.keys():
            self._in_group[partition].add(offsets[partition])
        wanted = {(self.topic.name, p): offset for p, offset in offsets.items()}
        taken = {p: offset for (_, p), offset in right.commit(wanted).items()}
        self._in_group.update({p: {offset} for p, offset in taken.items()})
        return taken

    def _entry(self, right: Right, offset: int, *, released: bool) -> Entry:
        every, holder = int(self.every * 1000), replace(right.holder, released=released)
        return Entry(offset, self.topic.id, now(), every, holder, self.topic.count)

    def forget(self) -> None:
        """Store everything again: what is stored may be another process's, or old."""
        self._stored = {}

    def raise_failure(self) -> None:
        """Tell what the registry did not take some time ago; all of it is then stored again."""
        try:
            self._registry.raise_failure()
        except BrokerUnavailable:
            self.forget()
            raise

    def flush(self) -> None:
        """Return when everything is stored for good."""
        self._registry.flush()

    def release(self, *, leave: bool = False) -> None:
        """Let go of the name; ``leave`` if the registry does not say so."""
        if self._right is not None:
            self._right.release(leave=leave)
