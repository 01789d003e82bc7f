"""A table on the disk of an executor: the last record of each key, and how far it has been read.

It is rebuilt from the table's topic when it is not there, so it may be deleted at any time.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import lmdb

MAP_BYTES = 1 << 38
"""How large a table can become: the file is sparse, and as large as what is in it."""
LONGEST_KEY = 500
"""LMDB takes 511 bytes: longer keys are found by their hash."""
ROW, HASHED, POSITION = b"r", b"h", b"p"
HEAD = struct.Struct(">iqqI")


class TableRow(NamedTuple):
    """A record of a table's topic; ``value`` is None of a tombstone."""

    partition: int
    offset: int
    time: int
    key: bytes
    value: bytes | None

    def packed(self) -> bytes:
        """As it is stored."""
        return (
            HEAD.pack(self.partition, self.offset, self.time, len(self.key))
            + self.key
            + (self.value or b"")
        )

    @staticmethod
    def unpacked(stored: bytes) -> TableRow:
        """The reverse."""
        partition, offset, time, length = HEAD.unpack_from(stored)
        end = HEAD.size + length
        return TableRow(partition, offset, time, stored[HEAD.size : end], stored[end:])


class TableStore:
    """Rows by key. Any number of processes may read, and one writes while the others wait."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.folder = folder
        self._env = lmdb.open(str(folder), map_size=MAP_BYTES, max_readers=512)
        self._all = self._env.open_db()

    def close(self) -> None:
        """End it; what was written stays."""
        self._env.close()

    @property
    def is_there(self) -> bool:
        """Whether its folder is still there."""
        return (self.folder / "data.mdb").exists()

    def positions(self) -> dict[int, int]:
        """The next offset of each partition of the table's topic; empty for a new store."""
        with self._env.begin() as reading:
            return _positions(reading)

    @contextmanager
    def writing(self) -> Iterator[Writing]:
        """Change rows: all of it is stored at the end, or none."""
        with self._env.begin(write=True) as transaction:
            yield Writing(transaction, self._all)

    def found(self, keys: Sequence[bytes | None]) -> list[TableRow | None]:
        """The row of each key; None where there is none."""
        with self._env.begin() as reading:
            return [None if key is None else _row(reading, key) for key in keys]

    def keys(self, first: bytes, last: bytes, most: int) -> list[bytes]:
        """Up to ``most`` keys from ``first`` up to ``last``, which is not one of them, in order.

        Keys that are too long to be in order are left out.
        """
        found: list[bytes] = []
        with self._env.begin() as reading, reading.cursor() as cursor:
            for key in cursor.iternext(values=False) if cursor.set_range(ROW + first) else ():
                if key >= ROW + last or len(found) == most:
                    break
                found.append(key[len(ROW) :])
        return found


class Writing:
    """Changes that are stored together."""

    def __init__(self, transaction: Any, everything: Any) -> None:
        self._transaction = transaction
        self._everything = everything

    def clear(self) -> None:
        """Forget everything."""
        self._transaction.drop(self._everything, delete=False)

    def positions(self) -> dict[int, int]:
        """As ``TableStore.positions``."""
        return _positions(self._transaction)

    def put(self, rows: Iterable[tuple[bytes, TableRow]]) -> None:
        """Apply rows in their order, each under its key; a tombstone deletes."""
        for key, row in rows:
            if row.value is None:
                self._transaction.delete(_place(key))
            else:
                self._transaction.put(_place(key), row.packed())

    def found(self, key: bytes | None) -> TableRow | None:
        """The row of a key as it is now."""
        return None if key is None else _row(self._transaction, key)

    def move(self, positions: Mapping[int, int]) -> None:
        """Note how far the topic has been read."""
        for partition, offset in positions.items():
            place = POSITION + partition.to_bytes(4, "big")
            self._transaction.put(place, offset.to_bytes(8, "big"))


def _positions(transaction: Any) -> dict[int, int]:
    found: dict[int, int] = {}
    with transaction.cursor() as cursor:
        for key, value in cursor if cursor.set_range(POSITION) else ():
            if not key.startswith(POSITION):
                break
            found[int.from_bytes(key[1:], "big")] = int.from_bytes(value, "big")
    return found


def _row(transaction: Any, key: bytes) -> TableRow | None:
    stored = transaction.get(_place(key))
    return None if stored is None else TableRow.unpacked(stored)


def _place(key: bytes) -> bytes:
    if len(key) <= LONGEST_KEY:
        return ROW + key
    return HASHED + hashlib.sha256(key).digest()
