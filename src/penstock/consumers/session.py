"""A consumer at work: what it holds, where it reads, what it has stored.

One thread takes records, another stores positions in the background; both go through the lock.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from penstock.consumers.entries import Entry, Place, Snapshot, now
from penstock.consumers.errors import ConsumerError, Fenced, FlushFailed, NothingStored
from penstock.consumers.hold import Hold
from penstock.consumers.options import OffsetManagement, Options
from penstock.consumers.progress import Batch, Places, Progress
from penstock.consumers.reading import Reading
from penstock.consumers.record import Record
from penstock.consumers.registry import Registry
from penstock.consumers.starting import Ranges, find_topic, starts, stored_places
from penstock.kafka import clients
from penstock.kafka.clients import Connection
from penstock.kafka.errors import KafkaFault

log = logging.getLogger(__name__)

PATIENCE = 0.1
SEEN_SECONDS = 60.0
"""How often a consumer that reads nothing says that it is still there, unless its TTL is short."""


class Session:
    """Begins with its construction, which may raise any error of this room; ends with ``close``."""

    def __init__(self, options: Options, connection: Connection) -> None:
        self._options = options
        self._connection = connection
        self._admin = clients.admin(connection)
        self._lock = threading.RLock()
        self._storing = threading.Lock()
        self._closed = threading.Event()
        self._trouble: Exception | None = None
        self._hold: Hold | None = None
        self._registry = Registry(connection, self._admin)
        self._topic = find_topic(self._admin, options.topic, options.partitions)
        if options.stores:
            self._hold = self._held()
        try:
            self._begin()
        except BaseException:
            self._let_go()
            raise

    def _held(self) -> Hold:
        self._registry.ensure()
        name = self._options.name or ""
        hold = Hold(self._connection, self._admin, self._registry, name, self._options.slot)
        hold.take(take_over=self._options.take_over)
        return hold

    def _begin(self) -> None:
        options = self._options
        ranges = Ranges(self._admin, self._topic, committed=options.committed_only)
        begin = self._starts(ranges)
        self.progress = Progress(begin, automatic=options.management is OffsetManagement.Auto)
        self._stored: Places = {}
        self._reading = Reading(
            self._connection,
            options.topic,
            begin,
            when_gone=self._instead,
            settings=_fetching(options),
            stops=self._stops(ranges),
            committed=options.committed_only,
        )
        self._seen = time.monotonic()
        if self._hold is not None:
            self._register(begin)
            self._flusher = threading.Thread(
                target=self._flush_in_background, name="flusher", daemon=True
            )
            self._flusher.start()

    def _stops(self, ranges: Ranges) -> Places:
        """Where to end, if anywhere."""
        last = self._options.last
        if self._options.until_end:
            return {p: end if last is None else min(end, last + 1) for p, end in ranges.end.items()}
        return {} if last is None else dict.fromkeys(ranges.end, last + 1)

    def _starts(self, ranges: Ranges) -> Places:
        options, topic = self._options, self._topic
        stored: Places = {}
        if options.name is not None:
            snapshot = self._registry.read()
            stored = stored_places(self._admin, snapshot, options.name, topic)
            self._every = self._how_often(snapshot)
        self.resumed: frozenset[int] = frozenset(() if options.reset else stored)
        return starts(
            stored,
            ranges,
            start=options.start,
            reset=options.reset,
            when_gone=options.when_gone,
            name=f'consumer "{options.name}"',
        )

    def _how_often(self, snapshot: Snapshot) -> float:
        """Seconds after which to say that it is still there."""
        place = Place(self._options.name or "", self._topic.name, 0)
        ttl = self._options.ttl_ms or snapshot.ttl(place, self._topic.id)
        return SEEN_SECONDS if ttl is None else min(SEEN_SECONDS, ttl / 3000)

    def _register(self, begin: Mapping[int, int]) -> None:
        """Be listed before anything was read, and stand there for whoever looks at the group."""
        if self._options.ttl_ms is not None:
            self._registry.write_ttl(self._options.name or "", self._options.ttl_ms)
        self._store(begin)
        self._registry.flush()

    def _instead(self, partition: int) -> int:
        ranges = Ranges(self._admin, self._topic, committed=self._options.committed_only)
        name = f'consumer "{self._options.name}"' if self._options.name else "the consumer"
        place = self.progress.handed_out().get(partition, 0)
        return ranges.instead(self._options.when_gone, name, partition, place)

    def records(self) -> Iterator[Record]:
        """Hand out records; ends only where it was told to."""
        while (batch := self.next_batch()) is not None:
            yield from batch.records()

    def next_batch(self, patience: float | None = None) -> Batch | None:
        """The batch to hand out from: the present one while it lasts. None at the end.

        It is empty if nothing came within ``patience`` seconds; without that, it waits.
        """
        self.raise_trouble()
        if not self.progress.batch.used_up:
            with self._lock:
                self.progress.asked_for_more()
            return self.progress.batch
        deadline = None if patience is None else time.monotonic() + patience
        with self._lock:
            self.progress.next_batch(Batch())
        while not self._closed.is_set() and not self._reading.finished:
            batch = self._reading.take(PATIENCE)
            with self._lock:
                self.progress.next_batch(batch)
            if batch.messages or (deadline is not None and time.monotonic() >= deadline):
                return batch
            self.raise_trouble()
        return None

    def raise_trouble(self) -> None:
        """Tell what went wrong in the background."""
        if self._hold is not None and self._hold.fenced:
            raise self._fenced()
        trouble, self._trouble = self._trouble, None
        if trouble is not None:
            raise trouble

    def _fenced(self) -> Fenced:
        return Fenced(
            f'consumer "{self._options.name}" was taken over by another process, or was away for '
            "longer than its session: it reads no further here, and what was handed out since the "
            "last flush is read again there."
        )

    def commit(self, record: Record | None = None) -> None:
        """Mark everything handed out as done; or a record, and those before it in its partition."""
        self._refuse_unless_stored()
        self.raise_trouble()
        with self._lock:
            self.progress.commit(None if record is None else {record.partition: record.offset + 1})

    def flush(self) -> None:
        """Return when what is committed is stored."""
        self._refuse_unless_stored()
        self.raise_trouble()
        self._store_what_is_new()
        self._registry.flush()

    def _refuse_unless_stored(self) -> None:
        if not self._options.stores:
            raise NothingStored(
                "this consumer stores no positions: give it a name (name=, offset_consumer) "
                "to commit under, and a strategy other than none"
            )

    def close(self, *, done: bool) -> None:
        """End, and store what is committed; with ``done``, what was handed out last is too."""
        if self._closed.is_set():
            return
        self._closed.set()
        try:
            if self._hold is not None:
                self._flusher.join(timeout=30)
                if not self._hold.fenced:
                    self._store_the_rest(done=done)
        finally:
            self._reading.close()
            self._let_go()

    def _store_the_rest(self, *, done: bool) -> None:
        if done and self._options.management is OffsetManagement.Auto:
            with self._lock:
                self.progress.commit()
        self._store_what_is_new(released=True)
        self._registry.flush()

    def _let_go(self) -> None:
        if self._hold is not None:
            self._hold.release()

    def _flush_in_background(self) -> None:
        while not self._closed.wait(min(self._options.flush, self._every)):
            try:
                self._store_what_is_new()
            except (KafkaFault, ConsumerError) as error:
                text = f"positions could not be stored ({error}); it is being tried again"
                self._trouble = error if isinstance(error, Fenced) else FlushFailed(text)
                log.debug("flush: %s", error)
            else:
                self._trouble = None

    def _store_what_is_new(self, *, released: bool = False) -> None:
        with self._storing:
            with self._lock:
                committed = self.progress.committed()
            new = {p: o for p, o in committed.items() if self._stored.get(p) != o}
            if self._due() or released:
                new = committed
            if new:
                self._store(new, released=released)

    def _due(self) -> bool:
        """Whether it is time to say that it is still there."""
        return time.monotonic() - self._seen >= self._every

    def _store(self, places: Mapping[int, int], *, released: bool = False) -> None:
        """In the group first: whoever may not commit there says nothing in the registry either."""
        hold, topic = self._hold, self._topic
        assert hold is not None  # noqa: S101 (asked before)
        hold.commit({(topic.name, p): place for p, place in places.items()})
        self._stored.update(places)
        self._seen = time.monotonic()
        holder = replace(hold.holder, released=released)
        self._registry.write(
            {
                Place(hold.name, topic.name, p): Entry(
                    place, topic.id, now(), int(self._every * 1000), holder
                )
                for p, place in places.items()
            }
        )


def _fetching(options: Options) -> dict[str, Any]:
    return {} if options.max_bytes is None else {"max.partition.fetch.bytes": options.max_bytes}
