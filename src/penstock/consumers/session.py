"""A consumer at work: where it reads, what it has handed out, what is stored of it.

One thread takes records, another stores positions in the background; both go through the lock.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar, cast

from penstock.consumers.errors import (
    ConsumerError,
    NothingStored,
)
from penstock.consumers.holding.keeper import Keeper
from penstock.consumers.holding.sharing import SharedReading
from penstock.consumers.options import Options, Strategy
from penstock.consumers.reading.fetching import fetching
from penstock.consumers.reading.forms import Forms, Source
from penstock.consumers.reading.progress import Batch, Fetched, Offsets, Progress
from penstock.consumers.reading.reading import Plan
from penstock.consumers.reading.record import Record
from penstock.consumers.reading.starting import Ranges
from penstock.consumers.storing import Storing
from penstock.consumers.topic import Topic, find_topic
from penstock.kafka import clients
from penstock.kafka.clients import Connection
from penstock.kafka.errors import KafkaFault
from penstock.kafka.silence import Silence

if TYPE_CHECKING:
    from penstock.consumers.reading.columns import ColumnBatch

log = logging.getLogger(__name__)

PATIENCE = 0.1
GROWTH_SECONDS = 60.0
"""How often to check whether the topic has more partitions."""


Some = TypeVar("Some", bound=Fetched)


class Session:
    """Begins with its construction, which may raise any error of this room; ends with ``close``."""

    def __init__(self, options: Options, connection: Connection) -> None:
        self._options = options
        self._connection = connection
        self._admin = clients.admin(connection)
        self._lock = threading.RLock()
        self._taking = threading.RLock()
        self._closed = threading.Event()
        self._to_register: Offsets = {}
        self._asked = 0
        self._topic = find_topic(self._admin, options.topic, options.partitions)
        self._looked = time.monotonic()
        self._silence = Silence()
        self._keeper = Keeper(options, connection, self._admin, self._topic, on_trouble=self._halt)
        try:
            self._forms = self._begin()
        except BaseException:
            self._keeper.release(leave=True)
            raise
        if self._keeper.holds:
            self._storing.start()

    def _begin(self) -> Forms:
        automatic = self._options.management is Strategy.AUTO
        self.progress = Progress({}, automatic=automatic)
        self._storing = Storing(
            self._options,
            self._keeper,
            self.progress,
            self._lock,
            self._closed,
            halt=self._halt,
        )
        if self._options.share:
            return Forms(shared=self._begin_shared())
        if self._options.stores:
            self._keeper.hold()
        ranges = self._ranges()
        begin = self._starts(ranges)
        self.progress.begin(begin)
        if self._keeper.holds:
            self._keeper.register(begin)
        return Forms(
            Plan(
                connection=self._connection,
                topic=self._options.topic,
                starts=begin,
                when_gone=self._instead,
                settings=fetching(self._options),
                stops=self._stops(ranges),
                committed=self._options.committed_only,
            )
        )

    def _begin_shared(self) -> SharedReading:
        shared = SharedReading(
            self._connection,
            self._admin,
            self._options,
            on_gained=self._gained,
            on_lost=self._lost,
            on_failed=self._keeper.forget,
            when_gone=self._instead,
        )
        self._keeper.share(shared)
        return shared

    def _gained(self, partitions: frozenset[int]) -> Offsets:
        """Partitions that this instance is to read from now on; where to begin."""
        self._topic = self._keeper.topic = self._topic_now()
        begin = self._keeper.starts(self._ranges(partitions))
        with self._lock:
            self.progress.begin(begin)
            self._to_register = begin
        return begin

    def _topic_now(self) -> Topic:
        """It may have got partitions. That it had fewer when this session began goes on being told:
        so the other instances see that what is not stored yet is new."""
        found = find_topic(self._admin, self._options.topic)
        same = found.id == self._topic.id
        return replace(found, count=self._topic.count) if same else found

    def _register_gained(self) -> None:
        """Not while the group is changing: nothing can be committed then."""
        if self._to_register:
            self._storing.register(self._to_register)
            self._to_register = {}

    def _lost(self, partitions: frozenset[int], *, still_ours: bool) -> None:
        """Another instance is to read these: what is done of them is stored while it may be."""
        if still_ours and self._options.stores:
            self._storing.store()
        with self._lock:
            self._keeper.forget()
            self._to_register = {}
            self.progress.drop(partitions)

    def _ranges(self, partitions: frozenset[int] | None = None) -> Ranges:
        committed = self._options.committed_only
        return Ranges(self._connection, self._admin, self._topic, partitions, committed=committed)

    def _starts(self, ranges: Ranges) -> Offsets:
        if self._options.name is None:
            return ranges.offsets(self._options.reset or self._options.start, ranges.first)
        return self._keeper.starts(ranges)

    def _stops(self, ranges: Ranges) -> Offsets:
        """Where to end, if anywhere."""
        last = self._options.last
        if self._options.until_end:
            return {p: end if last is None else min(end, last + 1) for p, end in ranges.end.items()}
        return {} if last is None else dict.fromkeys(ranges.end, last + 1)

    def _instead(self, partition: int) -> int:
        name = f'consumer "{self._options.name}"' if self._options.name else "the consumer"
        offset = self.progress.handed_out().get(partition, 0)
        instead = self._ranges().instead(self._options.when_gone, name, partition, offset)
        with self._lock:
            self.progress.begin({partition: instead})  # which may lie before
        return instead

    @property
    def resumed(self) -> frozenset[int]:
        """The partitions in which it went on from what was stored."""
        return self._keeper.resumed

    def records(self) -> Iterator[Record]:
        """Hand out records; ends only where it was told to."""
        while (batch := self.next_batch()) is not None:
            yield from batch.records()

    def ask(self) -> int:
        """Asking for more says that what was handed out is done. The number of the question,
        for ``next_batch``. Never blocks."""
        with self._lock:
            self._asked += 1
            self.progress.asked_for_more()
            return self._asked

    def next_batch(
        self, patience: float | None = None, question: int | None = None
    ) -> Batch | None:
        """The batch to hand out from: the present one while it lasts. None at the end.

        It is empty if nothing came within ``patience`` seconds; without that, it waits. It is empty
        as well if another ``question`` was asked since: then no call waits for this answer.
        """
        with self._taking:
            if question not in (None, self._asked):
                return Batch()
            return self._next(self._forms.records, patience, asked=question is not None)

    def next_columns(self, patience: float | None = None, **wanted: bool) -> ColumnBatch | None:
        """The same in columns. Which are ``wanted`` counts when it is called first."""
        return self._next(lambda: self._forms.columns(wanted), patience)

    def _next(
        self, form: Callable[[], Source[Some]], patience: float | None, *, asked: bool = False
    ) -> Some | None:
        """One thread at a time: another takes what this one has fetched, or goes on behind it."""
        with self._taking:
            if self._closed.is_set():
                return None
            source = form()
            self.progress.batch.halted = False  # first: what comes from now on halts it again
            self.raise_trouble()
            with self._lock:
                if not asked:
                    self.ask()
                if not self.progress.batch.used_up:
                    return cast("Some", self.progress.batch)
            return self._fetch(source, patience)

    def _fetch(self, source: Source[Some], patience: float | None) -> Some | None:
        deadline = None if patience is None else time.monotonic() + patience
        while not self._closed.is_set() and not source.finished:
            if time.monotonic() - self._looked > GROWTH_SECONDS:
                self._read_added(source)
            batch = source.take(PATIENCE)
            with self._lock:
                self.progress.next_batch(batch)
            self._heed_silence(source, batch)
            self._register_gained()
            self.raise_trouble()  # the next call has the batch
            if batch.size or (deadline is not None and time.monotonic() >= deadline):
                return batch
        return None

    def _heed_silence(self, source: Source[Some], batch: Some) -> None:
        if batch.size or batch.offsets(0):
            self._silence.end()
        elif self._silence.too_long():
            with self._lock:
                reached = self.progress.handed_out()
            source.fetch_anew(reached)

    def _read_added(self, source: Source[Some]) -> None:
        """Partitions that were added since, from their first record on."""
        self._looked = time.monotonic()
        options = self._options
        if options.partitions or options.share or options.until_end or options.last is not None:
            return
        try:
            topic = find_topic(self._admin, options.topic)
            added = topic.partitions - self._topic.partitions
            if topic.id == self._topic.id and added:
                self._begin_in(topic, added, source)
        except (KafkaFault, ConsumerError) as error:
            log.debug("partitions added to %s are not read yet: %s", options.topic, error)

    def _begin_in(self, topic: Topic, added: frozenset[int], source: Source[Some]) -> None:
        """What cannot be done now is done at the next look: until then they count as added."""
        first = Ranges(self._connection, self._admin, topic, added).first
        if self._keeper.holds:
            self._storing.register(first)
        source.extend(first)
        with self._lock:
            self.progress.begin(first)
        self._topic = self._keeper.topic = topic

    def _halt(self) -> None:
        """Make a loop over records ask, and get the error, before the next one."""
        self.progress.batch.halted = True

    def raise_trouble(self) -> None:
        """Tell what went wrong in the background."""
        self._storing.raise_trouble()

    def commit(self, record: Record | None = None) -> None:
        """Mark everything handed out as done; or a record, and those before it in its partition.

        ConsumerError if it has not handed out the record. Never blocks: async code may call it.
        """
        self._refuse_unless_stored()
        self._storing.raise_fenced()
        with self._lock:
            self.progress.commit(None if record is None else self._after(record))
        self._storing.raise_pending()

    def _after(self, record: Record) -> Offsets:
        """What is done if the record is; nothing if it has gone to another instance meanwhile."""
        topic, partition, offset = record.topic, record.partition, record.offset
        if topic == self._options.topic:
            if self.progress.was_handed_out(partition, offset):
                return {partition: offset + 1}
            if self._options.share:
                return {}  # the partition has moved since, there or there and back
        raise ConsumerError(
            f"the record at {offset} of {topic}/{partition} cannot be committed: this consumer has "
            f'not handed it out. Commit records of topic "{self._options.topic}" that it gave you.'
        )

    def flush(self) -> None:
        """Return when what is committed is stored."""
        self._refuse_unless_stored()
        self.raise_trouble()
        self._storing.store()
        self._keeper.flush()

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
        self._halt()
        with self._taking:
            self._end(done=done)

    def _end(self, *, done: bool) -> None:
        try:
            self._storing.join(timeout=30)
            if self._keeper.holds and not self._keeper.fenced:
                self._store_the_rest(done=done)
        finally:
            self._forms.close()
            self._keeper.release()

    def _store_the_rest(self, *, done: bool) -> None:
        if done:
            with self._lock:
                self.progress.asked_for_more()
        self._storing.store(released=True)
        self._keeper.flush()
