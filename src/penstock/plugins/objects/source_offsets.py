"""Offsets of an object source.

``{"bucket": …, "objectKey": …}`` → ``{"recordCount": …, "etag": …, …}`` is an object that was begun
and is not finished, or is to be read again. ``{"bucket": …, "virtualBucket": 0…63}`` →
``{"mark": …, …}`` stands for all that are finished (``source_marks``). Where other objects are
selected than before (``source_selection``), there are further marks, with a ``"selection"`` beside
the virtual bucket: what was finished before stays finished, and nothing else counts as finished.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from penstock.plugins.objects.source_marks import VIRTUAL_BUCKETS, Mark
from penstock.plugins.objects.source_selection import Selection, stored_selection
from penstock.plugins.objects.stored_objects import ListedObject
from penstock.sdk.errors import OffsetError
from penstock.sdk.offsets import OffsetReader, SourcePartition
from penstock.sdk.sources.s3_offset_entry import BUCKET, ETAG, OBJECT_KEY, S3OffsetManagerEntry

VIRTUAL_BUCKET: Final = "virtualBucket"
SIZE: Final = "size"
MODIFIED: Final = "lastModified"
SELECTION: Final = "selection"
PARTITION_KEYS: Final = (BUCKET, OBJECT_KEY, VIRTUAL_BUCKET, SELECTION)


class ObjectEntry(S3OffsetManagerEntry):
    """How far an object was read, and which version of it."""

    def note_version(self, found: ListedObject) -> None:
        """The records are of this one."""
        self.set_string(ETAG, found.etag)
        self.set_long(SIZE, found.size)
        self.set_long(MODIFIED, found.modified)

    def is_about(self, version: ListedObject) -> bool:
        """Whether it can be this version that was read; it is, where none was noted."""
        return self.get_string(ETAG) in {None, version.etag}

    @property
    def listed(self) -> ListedObject:
        """As it was when it was begun; the etag is empty where that is not known."""
        return ListedObject(
            self.object_key,
            self.get_long(SIZE) or 0,
            self.get_long(MODIFIED) or 0,
            self.get_string(ETAG) or "",
        )


def mark_partition(bucket: str, number: int, selection: str = "") -> dict[str, Any]:
    """Of a virtual bucket; the first selection has no name."""
    named = {SELECTION: selection} if selection else {}
    return {BUCKET: bucket, VIRTUAL_BUCKET: number, **named}


def object_partition(bucket: str, key: str) -> dict[str, Any]:
    """Of an object."""
    return {BUCKET: bucket, OBJECT_KEY: key}


class MarkId(NamedTuple):
    """Of which virtual bucket, in which selection."""

    number: int
    selection: str


def mark_in(partition: SourcePartition) -> MarkId | None:
    """Which mark it is of; None if it is of none."""
    number, selection = partition.get(VIRTUAL_BUCKET), partition.get(SELECTION, "")
    if not isinstance(number, int) or isinstance(number, bool) or not isinstance(selection, str):
        return None
    if partition.keys() - {BUCKET, VIRTUAL_BUCKET, SELECTION} or not 0 <= number < VIRTUAL_BUCKETS:
        return None
    return MarkId(number, selection)


class Committed:
    """All that is committed about one bucket."""

    def __init__(
        self,
        offsets: OffsetReader,
        bucket: str,
        late: bool = True,
        selection: Selection | None = None,
    ) -> None:
        self._late = late
        self._all: dict[str, dict[int, Mark]] = {}
        self.begun: dict[str, ObjectEntry] = {}
        """By their keys: objects with an offset of their own."""
        for partition, offset in offsets:
            if partition.get(BUCKET) == bucket:
                self._take(bucket, partition, offset)
        self.selection = self._name_of(selection)
        """The name of the present selection in partitions of marks."""
        self.marks: dict[int, Mark] = self._all.pop(self.selection, {})
        """Those of the present selection."""
        self._former = [(stored_selection(_text(m)), m) for m in self._all.values()]

    def _take(self, bucket: str, partition: SourcePartition, offset: Mapping[str, Any]) -> None:
        mark, key = mark_in(partition), partition.get(OBJECT_KEY)
        if mark is not None:
            self._all.setdefault(mark.selection, {})[mark.number] = Mark.of(offset)
        elif isinstance(key, str) and len(partition) == 2:
            self.begun[key] = ObjectEntry(bucket, key, offset)

    def _name_of(self, selection: Selection | None) -> str:
        if selection is None or not self._all:
            return ""
        known = (name for name, marks in self._all.items() if _text(marks) == selection.text)
        return next(known, selection.short)

    def has_finished(self, number: int, found: ListedObject) -> bool:
        """Whether nothing is left to do about this version of the object.

        Without ``late``, nothing is left below a mark, whatever its age.
        """
        if found.key in self.begun:
            return False
        if self._is_behind(self.marks.get(number), found):
            return True
        return any(self._had_finished(former, marks, found) for former, marks in self._former)

    def _had_finished(
        self, former: Selection, marks: Mapping[int, Mark], found: ListedObject
    ) -> bool:
        number = former.number_of(found.key)
        return number is not None and self._is_behind(marks.get(number), found)

    def _is_behind(self, mark: Mark | None, found: ListedObject) -> bool:
        if mark is None:
            return False
        return mark.has_finished(found) or (not self._late and found.key <= mark.key)

    def waits(self, number: int, key: str) -> bool:
        """Whether the object has to wait until its virtual bucket remembers fewer singly."""
        mark = self.marks.get(number)
        return mark is not None and mark.crowded and key > mark.key

    def lowest_mark(self) -> str:
        """No virtual bucket that has a mark was read less far than this.

        Of former selections, while nothing was read in the present one.
        """
        marks = [self.marks] if self.marks else [marks for _, marks in self._former]
        return min((mark.key for each in marks for mark in each.values()), default="")

    def crowded(self) -> frozenset[int]:
        """Virtual buckets whose objects have to wait."""
        return frozenset(number for number, mark in self.marks.items() if mark.crowded)


def check_entry(bucket: str, key: str, offset: Mapping[str, Any]) -> None:
    """OffsetError unless this can be the offset of an object."""
    if ObjectEntry(bucket, key, offset).record_count < 0:
        raise OffsetError("The value of 'recordCount' should not be negative.")


def _text(marks: Mapping[int, Mark]) -> str:
    """Which selection they are of; an offset that a user has set may not say it."""
    return max(mark.selected for mark in marks.values())
