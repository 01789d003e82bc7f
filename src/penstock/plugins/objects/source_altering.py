"""Offsets that a user sets: which can be, and what is stored for them."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.plugins.objects.source_marks import Mark
from penstock.plugins.objects.source_offsets import (
    VIRTUAL_BUCKET,
    check_entry,
    mark_in,
)
from penstock.plugins.objects.source_search import NumberOf
from penstock.sdk.errors import OffsetError
from penstock.sdk.offsets import ChangedOffset, SourceOffset, SourcePartition
from penstock.sdk.sources.offset_entries import RECORD_COUNT
from penstock.sdk.sources.s3_offset_entry import BUCKET, OBJECT_KEY

Changes = Sequence[tuple[SourcePartition | None, SourceOffset | None]]


class Altering:
    """Null for an object has just this one read again, also where a mark says it is finished.

    To that end it is stored as one of which no record was read. Where the mark of its virtual
    bucket is reset in the same request, it is forgotten, since it is read again anyway.
    """

    def __init__(self, bucket: str, number_of: NumberOf) -> None:
        self._bucket = bucket
        self._number_of = number_of

    def altered(self, changes: Changes) -> list[ChangedOffset]:
        """What to store; OffsetError says what is wrong with a change."""
        gone = (mark_in(p) for p, o in changes if p is not None and o is None)
        reset = {mark.number for mark in gone if mark is not None}
        return [self._altered(p, o, reset) for p, o in changes if p is not None]

    def _altered(
        self, partition: SourcePartition, offset: SourceOffset | None, reset: set[int]
    ) -> ChangedOffset:
        key = partition.get(OBJECT_KEY)
        if offset is None and (partition.get(BUCKET) != self._bucket or not isinstance(key, str)):
            return partition, None  # garbage must stay removable
        if offset is None:
            return partition, self._read_again(key, reset)
        self._check(partition, offset)
        return partition, offset

    def _read_again(self, key: object, reset: set[int]) -> SourceOffset | None:
        number = self._number_of(str(key))
        return None if number is None or number in reset else {RECORD_COUNT: 0}

    def _check(self, partition: SourcePartition, offset: SourceOffset) -> None:
        key, mark = partition.get(OBJECT_KEY), mark_in(partition)
        others = mark is None and len(partition) != 2
        if partition.get(BUCKET) != self._bucket or others:
            raise OffsetError(
                f"A partition of this connector is {{'{BUCKET}': '{self._bucket}', '{OBJECT_KEY}': "
                f"…}}, or has '{VIRTUAL_BUCKET}' from 0 to 63 instead of '{OBJECT_KEY}'."
            )
        if mark is not None:
            Mark.of(offset)
        elif isinstance(key, str):
            check_entry(self._bucket, key, offset)
        else:
            raise OffsetError(f"'{OBJECT_KEY}' must be text, or '{VIRTUAL_BUCKET}' from 0 to 63.")
