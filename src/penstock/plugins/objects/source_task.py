"""Reads the objects that the connector has given to a task."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from penstock.plugins.objects.source_config import OBJECT_SOURCE_CONFIG, ignores_changes
from penstock.plugins.objects.source_gathering import Gathering
from penstock.plugins.objects.source_marks import Mark
from penstock.plugins.objects.source_offsets import ObjectEntry, mark_partition
from penstock.plugins.objects.source_plan import Order
from penstock.plugins.objects.source_reader import ObjectReader, Opened
from penstock.plugins.objects.store import Storage, open_storage
from penstock.plugins.objects.stored_objects import ListedObject
from penstock.sdk.batches import SourceBatch, offsets_only
from penstock.sdk.errors import PenstockError, RecordError
from penstock.sdk.offsets import ChangedOffset
from penstock.sdk.sources.abstract_source_task import AbstractSourceTask
from penstock.sdk.sources.backoff import BackoffConfig
from penstock.sdk.sources.iterators import Item
from penstock.sdk.sources.offset_entries import OffsetManagerKey
from penstock.sdk.sources.offset_manager import OffsetManager
from penstock.sdk.sources.s3_offset_entry import DONE
from penstock.sdk.sources.source_config import SourceCommonConfig


class ObjectSourceTask(AbstractSourceTask):
    """One object after the other, in the order of keys; dry when all are read."""

    def configure(self, props: Mapping[str, str]) -> SourceCommonConfig:
        config = SourceCommonConfig(OBJECT_SOURCE_CONFIG, props)
        self._storage = open_storage(props)
        self._reader = ObjectReader(self._storage, props)
        return config

    def get_iterator(self, backoff_config: BackoffConfig) -> Iterator[Item | None]:
        order = Order.from_config(self.config.props)
        late = not ignores_changes(self.config.values)
        return Gathering(
            OrderedObjects(order, self._storage, self._reader, self.offset_manager, late)
        )

    def close_resources(self) -> None:
        """The store has nothing to close; a download ends with its iterator."""


@dataclass
class Ending:
    """What has to be known about an object when it is finished."""

    number: int
    listed: ListedObject
    stored: bool
    """Whether it has an offset of its own, or gets one from a batch that was handed out."""


class OrderedObjects(Iterator[SourceBatch]):
    """The batches of an order. After a RetriableError it goes on where it was."""

    def __init__(
        self,
        order: Order,
        storage: Storage,
        reader: ObjectReader,
        offsets: OffsetManager,
        late: bool,
    ) -> None:
        self._left = deque(order.objects)
        self._order = order
        self._bucket = storage.bucket
        self._reader = reader
        self._offsets = offsets
        self._late = late
        self._marks: dict[int, Mark] = {}
        self._current: Iterator[SourceBatch | RecordError] | None = None
        self._advanced = False

    def __next__(self) -> SourceBatch:
        while self._left:
            if self._current is None:
                self._current = self._batches(*self._left[0])
            try:
                item = next(self._current)
            except StopIteration:
                self._left.popleft()
                self._current = None
                continue
            except Exception:
                self._current = None
                raise
            if isinstance(item, RecordError):
                raise item  # the rest of the object follows
            return item
        if self._advanced or not self._order.advance:
            raise StopIteration
        self._advanced = True
        return offsets_only(self._advance())

    def _batches(self, number: int, listed: ListedObject) -> Iterator[SourceBatch | RecordError]:
        known = self._known_entry(listed.key)
        entry = known or ObjectEntry(self._bucket, listed.key)
        ending = Ending(number, listed, stored=known is not None)
        passed = bool(entry.get_bool(DONE))
        try:
            if passed and entry.is_about(version := self._reader.version(listed.key)):
                yield offsets_only(self._finished(ending, version))
                return
            opened = self._reader.open(listed.key)
        except FileNotFoundError:
            bad = None if passed else self._reader.note_gone(entry)
            if bad is not None:
                yield bad
            yield offsets_only(self._finished(ending, listed))
            return
        if known is None and self._mark(number).has_finished(opened.version):
            yield offsets_only(self._finished(ending, opened.version))
            return
        yield from self._records(self._reader.begin(entry, opened.version), opened, ending)

    def _records(
        self, entry: ObjectEntry, opened: Opened, ending: Ending
    ) -> Iterator[SourceBatch | RecordError]:
        """A batch is handed out once the next is there: the last one finishes the object."""
        held: SourceBatch | None = None
        try:
            for records in self._reader.batches(entry, opened):
                bad = isinstance(records, RecordError)
                ending.stored = ending.stored or held is not None or bad
                if held is not None:
                    yield held
                held = None if bad else entry.source_batch(records)
                if bad:
                    yield records
        except PenstockError:
            if held is not None:
                yield held
            raise
        finished = self._finished(ending, opened.version)
        yield offsets_only(finished) if held is None else SourceBatch(held.records, finished)

    def _known_entry(self, key: str) -> ObjectEntry | None:
        """How far it was read, if it was begun or is to be read again."""
        new = ObjectEntry(self._bucket, key)
        return self._offsets.get_entry(new.get_manager_key(), new.from_properties)

    def _finished(self, ending: Ending, version: ListedObject) -> list[ChangedOffset]:
        """The mark moves; the object's own offset is forgotten, if there is one."""
        number, listed = ending.number, ending.listed
        mark = self._mark(number)
        mark.finish(version)
        if listed.etag and listed.etag != version.etag:
            mark.finish(listed)  # it was replaced after it was listed
        if not self._late:
            mark.advance(version.modified + 1000)
        own = ObjectEntry.key_of(self._bucket, listed.key).partition
        forgotten: list[ChangedOffset] = [(own, None)] if ending.stored else []
        return [*forgotten, (self._partition(number), mark.offset())]

    def _advance(self) -> list[ChangedOffset]:
        changes: list[ChangedOffset] = []
        for number, horizon in self._order.advance.items():
            mark = self._mark(number)
            mark.advance(horizon)
            changes.append((self._partition(number), mark.offset()))
        return changes

    def _mark(self, number: int) -> Mark:
        if number not in self._marks:
            key = OffsetManagerKey(self._partition(number))
            begin = Mark(horizon=self._order.begin.get(number, 0))
            mark = self._offsets.get_entry(key, Mark.of) or begin
            mark.selected = self._order.selected
            self._marks[number] = mark
        return self._marks[number]

    def _partition(self, number: int) -> dict[str, Any]:
        return mark_partition(self._bucket, number, self._order.selection)
