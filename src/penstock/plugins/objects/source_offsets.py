"""Offsets of an object source.

``{"bucket": …, "objectKey": …}`` → ``{"recordCount": …, "etag": …, …}`` is an object that was begun
and is not finished, or is to be read again. ``{"bucket": …, "virtualBucket": 0…63}`` →
``{"mark": …, …}`` stands for all that are finished (``source_marks``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from penstock.plugins.objects.source_marks import VIRTUAL_BUCKETS, Mark
from penstock.plugins.objects.stored_objects import ListedObject
from penstock.sdk.errors import OffsetError
from penstock.sdk.offsets import OffsetReader, SourcePartition
from penstock.sdk.sources.s3_offset_entry import BUCKET, ETAG, OBJECT_KEY, S3OffsetManagerEntry

VIRTUAL_BUCKET: Final = "virtualBucket"
SIZE: Final = "size"
MODIFIED: Final = "lastModified"
PARTITION_KEYS: Final = (BUCKET, OBJECT_KEY, VIRTUAL_BUCKET)


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


def mark_partition(bucket: str, number: int) -> dict[str, Any]:
    """Of a virtual bucket."""
    return {BUCKET: bucket, VIRTUAL_BUCKET: number}


def object_partition(bucket: str, key: str) -> dict[str, Any]:
    """Of an object."""
    return {BUCKET: bucket, OBJECT_KEY: key}


def number_in(partition: SourcePartition) -> int | None:
    """Which virtual bucket it is; None if it is none."""
    number = partition.get(VIRTUAL_BUCKET)
    if not isinstance(number, int) or isinstance(number, bool) or len(partition) != 2:
        return None
    return number if 0 <= number < VIRTUAL_BUCKETS else None


class Committed:
    """All that is committed about one bucket."""

    def __init__(self, offsets: OffsetReader, bucket: str, late: bool = True) -> None:
        self._late = late
        self.marks: dict[int, Mark] = {}
        self.begun: dict[str, ObjectEntry] = {}
        """By their keys: objects with an offset of their own."""
        for partition, offset in offsets:
            if partition.get(BUCKET) == bucket:
                self._take(bucket, partition, offset)

    def _take(self, bucket: str, partition: SourcePartition, offset: Mapping[str, Any]) -> None:
        number, key = number_in(partition), partition.get(OBJECT_KEY)
        if number is not None:
            self.marks[number] = Mark.of(offset)
        elif isinstance(key, str) and len(partition) == 2:
            self.begun[key] = ObjectEntry(bucket, key, offset)

    def has_finished(self, number: int, found: ListedObject) -> bool:
        """Whether nothing is left to do about this version of the object.

        Without ``late``, nothing is left below a mark, whatever its age.
        """
        mark = self.marks.get(number)
        if mark is None or found.key in self.begun:
            return False
        return mark.has_finished(found) or (not self._late and found.key <= mark.key)

    def waits(self, number: int, key: str) -> bool:
        """Whether the object has to wait until its virtual bucket remembers fewer singly."""
        mark = self.marks.get(number)
        return mark is not None and mark.crowded and key > mark.key and key not in self.begun

    def lowest_mark(self) -> str:
        """No virtual bucket that has a mark was read less far than this."""
        return min((mark.key for mark in self.marks.values()), default="")

    def crowded(self) -> frozenset[int]:
        """Virtual buckets whose objects have to wait."""
        return frozenset(number for number, mark in self.marks.items() if mark.crowded)


def check_entry(bucket: str, key: str, offset: Mapping[str, Any]) -> None:
    """OffsetError unless this can be the offset of an object."""
    if ObjectEntry(bucket, key, offset).record_count < 0:
        raise OffsetError("The value of 'recordCount' should not be negative.")
