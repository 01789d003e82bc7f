"""Keeps a consumer's place: holds its name, knows where it stood, stores where it stands."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Protocol

from penstock.consumers.absence import Stored
from penstock.consumers.entries import Entry, Place, Snapshot, now
from penstock.consumers.errors import SessionOver
from penstock.consumers.hold import Hold
from penstock.consumers.holder import Holder
from penstock.consumers.options import Options
from penstock.consumers.progress import Places
from penstock.consumers.registry import Registry
from penstock.consumers.starting import Ranges, Topic, added_since, starts, stored_places
from penstock.kafka.clients import Connection, GroupAdmin
from penstock.kafka.errors import BrokerUnavailable, KafkaFault
from penstock.kafka.topics import Position

SEEN_SECONDS = 60.0
"""How often a consumer that reads nothing says that it is still there, unless its TTL is short."""


class Right(Protocol):
    """The right to commit under a name."""

    @property
    def holder(self) -> Holder:
        """Who has it."""

    @property
    def fenced(self) -> bool:
        """Whether somebody else has it."""

    @property
    def lost(self) -> bool:
        """Whether it must be seen if somebody else has it."""

    def commit(self, places: Mapping[Position, int]) -> Mapping[Position, int]:
        """Store positions; those of them that it was right to store. Fenced if somebody else has
        the right by now, SessionOver if lost."""

    def regain(self, stored: Stored) -> None:
        """Have it again if it was lost and nobody came; Fenced if somebody did."""

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
        self._stored: Places = {}
        self._in_group: dict[int, set[int]] = {}
        """What the group has of each partition: more than one where that is not known for sure."""
        self._seen = time.monotonic()

    @property
    def holds(self) -> bool:
        """Whether it may store."""
        return self._right is not None

    @property
    def fenced(self) -> bool:
        """Whether somebody else has taken over the name."""
        return self._right is not None and self._right.fenced

    @property
    def lost(self) -> bool:
        """Whether it must be seen first if somebody else has taken over the name."""
        return self._right is not None and self._right.lost

    def regain(self) -> None:
        """Go on with a name that was lost, if nobody else used it meanwhile; else Fenced."""
        if self._right is None or not self._right.lost:
            return
        if not self._in_group:
            raise BrokerUnavailable(
                f'consumer "{self.name}" lost its name before it could begin: open it again'
            )
        try:
            self._right.regain({(self.topic.name, p): s for p, s in self._in_group.items()})
        except KafkaFault as error:
            raise BrokerUnavailable(
                f'consumer "{self.name}" was away for longer than its session, and cannot reach '
                f"the brokers to make sure that nobody else has the name ({error})"
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

    def starts(self, ranges: Ranges) -> Places:
        """Where to begin in the partitions of ``ranges``."""
        options = self._options
        snapshot = self._registry.read()
        stored = stored_places(self._admin, snapshot, self.name, self.topic)
        self.every = self._how_often(snapshot)
        known = {p: place for p, place in stored.items() if p in ranges.first}
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
        place = Place(self.name, self.topic.name, 0)
        ttl = self._options.ttl_ms or snapshot.ttl(place, self.topic.id)
        return SEEN_SECONDS if ttl is None else min(SEEN_SECONDS, ttl / 3000)

    def register(self, begin: Mapping[int, int]) -> None:
        """Be listed before anything was read, and stand there for whoever looks at the group."""
        if self._options.ttl_ms is not None:
            self._registry.write_ttl(self.name, self._options.ttl_ms)
        self.store(begin)
        self._registry.flush()

    def store(self, places: Mapping[int, int], *, released: bool = False) -> None:
        """Store what is new of these; now and then all, which says that the consumer is there."""
        self.regain()
        try:
            self._store_new(places, released=released)
        except SessionOver:
            self.regain()
            self._store_new(places, released=released)

    def _store_new(self, places: Mapping[int, int], *, released: bool) -> None:
        new = {p: place for p, place in places.items() if self._stored.get(p) != place}
        if released or time.monotonic() - self._seen >= self.every:
            new = dict(places)
        if new:
            self._store(new, released=released)

    def _store(self, places: Mapping[int, int], *, released: bool) -> None:
        """In the group first: what may not be committed there is not in the registry either."""
        right, topic = self._right, self.topic
        assert right is not None  # noqa: S101 (asked before)
        taken = self._commit(right, places)
        self._stored.update(taken)
        self._seen = time.monotonic()
        self._registry.write(
            {
                Place(self.name, topic.name, p): self._entry(right, place, released=released)
                for p, place in taken.items()
            }
        )

    def _commit(self, right: Right, places: Mapping[int, int]) -> Places:
        for partition in places.keys() & self._in_group.keys():
            self._in_group[partition].add(places[partition])
        wanted = {(self.topic.name, p): place for p, place in places.items()}
        taken = {p: place for (_, p), place in right.commit(wanted).items()}
        self._in_group.update({p: {place} for p, place in taken.items()})
        return taken

    def _entry(self, right: Right, place: int, *, released: bool) -> Entry:
        every, holder = int(self.every * 1000), replace(right.holder, released=released)
        return Entry(place, self.topic.id, now(), every, holder, self.topic.count)

    def forget(self) -> None:
        """Store everything anew: what is stored may be of others by now, or of before."""
        self._stored = {}

    def raise_failure(self) -> None:
        """Tell what the registry did not take some time ago; all of it is then stored anew."""
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
