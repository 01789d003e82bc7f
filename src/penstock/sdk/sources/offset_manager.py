"""What a source task knows about the objects it reads, ahead of what is committed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Protocol, TypeVar

from penstock.sdk.offsets import ChangedOffset, SourceOffset, SourcePartition, canonical
from penstock.sdk.records import SourceRecord
from penstock.sdk.sources.offset_entries import OffsetManagerEntry, OffsetManagerKey

E = TypeVar("E")
Properties = dict[str, Any]


class OffsetStore(Protocol):
    """Where committed offsets are looked up, many at a time. ``OffsetReader`` is one."""

    def get_many(self, partitions: Collection[SourcePartition]) -> list[Properties | None]:
        """The committed offset of each, in the same order; None where there is none."""


class OffsetManager:
    """Answers with the newest state of each object: that of records made, or what is committed.

    Its store is what was committed when the lease began; the lease's own commits keep it up to
    date, so nothing reads the offsets topic. The framework calls ``add_entry`` when a record is
    made, and ``remove`` when the last record made of an object has been committed. Safe to use
    from several threads.
    """

    def __init__(self, store: OffsetStore) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._made: dict[str, Mapping[str, Any] | None] = {}
        self._loaded: dict[str, Properties | None] = {}
        self._committed: dict[str, Mapping[str, Any] | None] = {}
        # The same object's next record replaces its state: its text need not be made each time.
        self._newest: ChangedOffset | None = None

    def get_entry(self, key: OffsetManagerKey, factory: Callable[[Properties], E]) -> E | None:
        """``factory`` of a copy of the object's properties; None if nothing is known about it."""
        text = canonical(key.partition)
        with self._lock:
            self._settle()
            found = self._made[text] if text in self._made else self._known(key, text)
            properties = None if found is None else dict(found)
        return None if properties is None else factory(properties)

    def add_entry(self, entry: OffsetManagerEntry) -> None:
        """Records up to this state were made, and are not committed yet."""
        self.add(entry.get_manager_key().partition, entry.get_properties())

    def remove(self, named: OffsetManagerKey | SourceRecord) -> None:
        """Forget what is held of this object: ``get_entry`` then gives what is committed."""
        text = canonical(
            named.source_partition if isinstance(named, SourceRecord) else named.partition
        )
        with self._lock:
            self._settle()
            self._made.pop(text, None)
            self._loaded.pop(text, None)

    def populate_offset_manager(self, keys: Iterable[OffsetManagerKey]) -> None:
        """Load what is committed for all of these in one look-up."""
        wanted = {canonical(key.partition): key.partition for key in keys}
        with self._lock:
            found = self._store.get_many(list(wanted.values()))
            self._loaded.update(zip(wanted, found, strict=True))

    # For the framework.

    def add(self, partition: SourcePartition, offset: SourceOffset | None) -> None:
        """As ``add_entry``, with what a record or a batch carries; None: it is to be forgotten."""
        with self._lock:
            if self._newest is not None and self._newest[0] is not partition:
                self._settle()
            self._newest = partition, offset

    def committed(self, offsets: Iterable[ChangedOffset]) -> None:
        """These are committed. What was made beyond them stays: it is newer than the store."""
        with self._lock:
            self._settle()
            for partition, offset in offsets:
                text = canonical(partition)
                self._committed[text] = offset
                self._loaded.pop(text, None)
                if text in self._made and self._made[text] == offset:
                    del self._made[text]

    def _settle(self) -> None:
        if self._newest is not None:
            partition, offset = self._newest
            self._made[canonical(partition)] = offset
            self._newest = None

    def _known(self, key: OffsetManagerKey, text: str) -> Mapping[str, Any] | None:
        if text in self._committed:
            return self._committed[text]
        if text not in self._loaded:
            (self._loaded[text],) = self._store.get_many([key.partition])
        return self._loaded[text]
