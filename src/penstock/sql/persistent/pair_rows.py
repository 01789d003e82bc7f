"""The rows of either side of a join, and how the state keeps them."""

from __future__ import annotations

import base64
import hashlib
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import orjson

from penstock.sql.persistent.group_state import BY_GROUP, GROUP, PREFIX, GroupState, Mark
from penstock.sql.persistent.table_store import TableRow

Headers = Sequence[tuple[str, bytes | None]]
HEAD = struct.Struct(">?iqqiiI")
"""Whether it was matched, partition, offset, timestamp, and how long key, value and headers are."""
NOTHING = -1
PLACE = struct.Struct(">IB")
"""The lane and the side."""
ORDER = struct.Struct(">QIQ")
"""The time, the partition and the offset."""
TIME_BYTES, DIGEST_BYTES = 8, 32


class Record(NamedTuple):
    """A record as it was read; its timestamp in milliseconds."""

    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Headers = ()

    def packed(self, *, matched: bool = False) -> bytes:
        """As the state keeps it."""
        told = _headers(self.headers) if self.headers else b""
        sizes = (NOTHING if each is None else len(each) for each in (self.key, self.value))
        head = HEAD.pack(matched, self.partition, self.offset, self.timestamp, *sizes, len(told))
        return head + (self.key or b"") + (self.value or b"") + told

    @staticmethod
    def unpacked(stored: bytes) -> tuple[bool, Record, bytes]:
        """Whether it was matched, the record, and what is stored behind it."""
        matched, partition, offset, timestamp, *sizes, length = HEAD.unpack_from(stored)
        at, parts = HEAD.size, list[bytes | None]()
        for size in sizes:
            end = at + max(size, 0)
            parts.append(None if size == NOTHING else stored[at:end])
            at = end
        headers = _read_headers(stored[at : at + length]) if length else ()
        key, value = parts
        read = Record(partition, offset, timestamp, key, value, headers)
        return matched, read, stored[at + length :]


def _headers(headers: Headers) -> bytes:
    return orjson.dumps(
        [[k, None if v is None else base64.b64encode(v).decode()] for k, v in headers]
    )


def _read_headers(stored: bytes) -> Headers:
    return [(k, None if v is None else base64.b64decode(v)) for k, v in orjson.loads(stored)]


@dataclass(eq=False)
class PairRow:
    """A row of one side of a join of streams."""

    lane: int
    side: int
    key: bytes
    """The digest of what the sides have in common."""
    time: int
    record: Record
    matched: bool = False
    is_kept: bool = False
    """Whether the state has it."""

    @property
    def place(self) -> tuple[int, int, int]:
        """No other row of the lane has it."""
        return self.side, self.record.partition, self.record.offset

    def state_key(self, mark: Mark) -> bytes:
        """The key under which the state has it: rows of a side are in the order of their times."""
        order = ORDER.pack(self.time, self.record.partition, self.record.offset)
        place = PLACE.pack(self.lane, self.side) + order[:TIME_BYTES]
        return mark.key(place + self.key + order[TIME_BYTES:])


def digest(key: bytes) -> bytes:
    """Keys of any length are found in order."""
    return hashlib.sha256(key).digest()


def by_join_key(rows: Iterable[TableRow]) -> Iterator[tuple[bytes, TableRow]]:
    """Of each row in the state an entry in the order of keys; it is deleted with the row."""
    for row in rows:
        if row.key.startswith(GROUP):
            place, time, key, rest = _parts(row.key)
            entry = BY_GROUP + row.key[1:PREFIX] + place + key + time + rest
            yield entry, TableRow(0, 0, 0, entry, None if row.value is None else b"")


def _parts(state_key: bytes) -> tuple[bytes, bytes, bytes, bytes]:
    """Place, time, key, and partition and offset."""
    sizes = (PLACE.size, TIME_BYTES, DIGEST_BYTES, ORDER.size - TIME_BYTES)
    at, found = PREFIX, list[bytes]()
    for size in sizes:
        found.append(state_key[at : at + size])
        at += size
    place, time, key, rest = found
    return place, time, key, rest


class KeptRows:
    """The rows of one lane that the state has had since earlier turns."""

    def __init__(self, state: GroupState, mark: Mark, lane: int) -> None:
        self._state = state
        self._mark = mark
        self._lane = lane

    def of_key(self, side: int, key: bytes, first: int, last: int) -> Iterator[PairRow]:
        """Those with that key from ``first`` to ``last``, in the order of their times."""
        if last < first:
            return
        place = PLACE.pack(self._lane, side)
        prefix = BY_GROUP + self._mark.key(b"")[1:] + place + key
        begin, end = (prefix + at.to_bytes(TIME_BYTES, "big") for at in (first, last + 1))
        for entries in self._state.between(begin, end):
            orders = [entry[len(prefix) :] for entry in entries]
            keys = [self._mark.key(place + o[:TIME_BYTES] + key + o[TIME_BYTES:]) for o in orders]
            yield from self._read(side, keys)

    def until(self, side: int, first: int, last: int) -> Iterator[PairRow]:
        """Those from ``first`` to ``last``, in the order of their times."""
        for keys in self.keys_until(side, first, last):
            yield from self._read(side, keys)

    def keys_until(self, side: int, first: int, last: int) -> Iterator[list[bytes]]:
        """Their keys in the state, some at a time."""
        if last < 0:
            return
        place = PLACE.pack(self._lane, side)
        begin, end = (place + at.to_bytes(TIME_BYTES, "big") for at in (first, last + 1))
        yield from self._state.between(self._mark.key(begin), self._mark.key(end))

    def _read(self, side: int, keys: Sequence[bytes]) -> Iterator[PairRow]:
        for key, stored in zip(keys, self._state.found(keys), strict=True):
            if stored is not None:
                _, time, digested, _ = _parts(key)
                matched, record, _ = Record.unpacked(stored)
                at = int.from_bytes(time, "big")
                yield PairRow(self._lane, side, digested, at, record, matched, is_kept=True)
