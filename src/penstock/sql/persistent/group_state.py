"""What a query keeps of its groups, or rows: a topic that is its truth, and a copy on disk.

Everything of a turn is in one transaction: results, offsets, what is kept, and a *mark* that says
up to which offsets rows are in what is kept. So the copy, read to the end of the topic, is never
ahead of the offsets and never behind them. A turn that begins before the mark, because someone has
reset or rewound the offsets, begins a new *epoch*: nothing that was kept counts any more, and it is
deleted bit by bit.
"""

from __future__ import annotations

import hashlib
import json
import struct
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from penstock.kafka import clients, topics
from penstock.kafka.clients import Connection, GroupAdmin
from penstock.kafka.errors import BrokerUnavailable
from penstock.kafka.range_reader import RangeGone
from penstock.sdk.frames import TopicRange
from penstock.sql.persistent.sessions import KeptWindow
from penstock.sql.persistent.table_reading import TableTopic
from penstock.sql.persistent.table_store import LONGEST_KEY, TableRow, TableStore, Writing

GROUP, MARK, ROW = b"g", b"m", b"t"
BY_GROUP = b"i"
"""Where the copy, but not the topic, has the windows of each group in order."""
BOUNDS = struct.Struct(">qq")
MARKERS_SECONDS = 20.0
"""How long the markers of the last transaction may take."""
PAUSE = 0.01
NEVER = -1
SOME = 1000
"""How many windows are read at a time."""
PREFIX = len(GROUP) + 4
"""How long the part of a key before the group or window is."""


@dataclass(frozen=True)
class Mark:
    """Up to where rows are in what is kept, and the latest time of them, by partition."""

    epoch: int = 1
    offsets: Mapping[int, int] = field(default_factory=dict)
    times: Mapping[int, int] = field(default_factory=dict)
    clocks: Mapping[int, int] = field(default_factory=dict)
    """Of a join of streams: the time that each lane of partitions has come to. Of one of tables:
    how often each side was begun again."""

    @property
    def newest(self) -> int:
        """The latest time of all."""
        return max(self.times.values(), default=NEVER)

    def begun(self, ranges: Sequence[TopicRange]) -> Mark:
        """The mark that a turn over these goes on from."""
        return Mark(self.epoch + 1) if self.repeated(ranges) else self

    def repeated(self, ranges: Sequence[TopicRange]) -> set[int]:
        """The partitions of which rows are in what is kept that are read again."""
        return {r.partition for r in ranges if r.start < self.offsets.get(r.partition, r.start)}

    def ended(self, ranges: Sequence[TopicRange], times: Mapping[int, int]) -> Mark:
        """The mark after that turn, in which rows up to ``times`` were read."""
        later = {p: max(at, self.times.get(p, NEVER)) for p, at in times.items()}
        return replace(
            self,
            offsets={**self.offsets, **{r.partition: r.stop for r in ranges}},
            times={**self.times, **later},
        )

    def packed(self) -> bytes:
        """As it is stored."""
        return json.dumps(vars(self)).encode()

    @staticmethod
    def unpacked(stored: bytes) -> Mark:
        """The reverse."""
        read = json.loads(stored)
        maps = (read.get(k, {}) for k in ("offsets", "times", "clocks"))
        return Mark(read["epoch"], *({int(p): at for p, at in each.items()} for each in maps))

    def key(self, group: bytes, start: int | None = None) -> bytes:
        """The key of what is kept of a group, in the order of the beginnings of windows."""
        window = b"" if start is None else start.to_bytes(8, "big")
        return GROUP + self.epoch.to_bytes(4, "big") + window + group

    def window_key(self, group: bytes, first: int, last: int) -> bytes:
        """That of a window that is looked for by its end, and by its group."""
        return self.key(BOUNDS.pack(last, first) + _digest(group))

    def row_key(self, key: bytes) -> bytes:
        """The key of what is kept of a row of a table."""
        whole = ROW + self.epoch.to_bytes(4, "big") + key
        return whole if len(whole) <= LONGEST_KEY else whole[:PREFIX] + _digest(key)

    def group_prefix(self, group: bytes) -> bytes:
        """What the keys of a group's windows in the copy's order begin with."""
        return BY_GROUP + self.epoch.to_bytes(4, "big") + _digest(group)


Index = Callable[[Iterable[TableRow]], Iterator[tuple[bytes, TableRow]]]


class GroupState:
    """The copy of one query's state, in one process."""

    def __init__(
        self, store: TableStore, topic: TableTopic | None, index: Index | None = None
    ) -> None:
        """Without a topic there is nothing but what is in the store.

        ``index`` gives further entries for the copy, by which records can be looked for.
        """
        self._store = store
        self._topic = topic
        self._index = index

    def catch_up(self) -> Mark:
        """Read the topic to its end, and tell how far what is kept goes.

        BrokerUnavailable if the markers of the last transaction do not come.
        """
        if self._topic is not None:
            end = _whole_end(self._topic.connection, self._topic.topic)
            try:
                self._read(self._topic, end)
            except RangeGone:
                self._read(self._topic, end, again=True)
        (row,) = self._store.found([MARK])
        return Mark() if row is None else Mark.unpacked(row.value or b"{}")

    def _read(self, topic: TableTopic, end: int, *, again: bool = False) -> None:
        at = self._store.positions().get(0, end + 1)
        if at == end and not again:
            return
        with self._store.writing() as store:
            if again or at > end:
                store.clear()
                at = topic.beginnings([0])[0]
            for rows in topic.rows(0, at, end):
                self.keep(store, list(rows))
            store.move({0: end})

    def keep(self, store: Writing, rows: Sequence[TableRow]) -> None:
        """Put records of the state's topic into the copy."""
        store.put((row.key, row) for row in rows)
        if self._index is not None:
            store.put(self._index(rows))

    def found(self, keys: Sequence[bytes | None]) -> list[bytes | None]:
        """What is kept under each key."""
        return [row and row.value for row in self._store.found(keys)]

    def outdated(self, mark: Mark, closed: int | None, most: int) -> list[bytes]:
        """Keys that are not needed any more: of earlier epochs, and of windows that began by
        ``closed``."""
        first = [key for each in (GROUP, ROW) for key in self._earlier(each, mark, most)][:most]
        if closed is None or closed < 0 or len(first) == most:
            return first
        last = mark.key(b"", closed + 1)
        return first + self._store.keys(mark.key(b"", 0), last, most - len(first))

    def _earlier(self, kind: bytes, mark: Mark, most: int) -> list[bytes]:
        return self._store.keys(kind, kind + mark.epoch.to_bytes(4, "big"), most)

    def windows_of(self, mark: Mark, group: bytes) -> list[KeptWindow]:
        """The windows of a group, by their ends."""
        prefix = mark.group_prefix(group)
        keys = [
            mark.key(found[len(prefix) :] + _digest(group))
            for some in self.between(prefix, prefix + b"\xff" * (BOUNDS.size + 1))
            for found in some
        ]
        return self._windows(keys)

    def over(self, mark: Mark, last: int) -> Iterator[list[KeptWindow]]:
        """Windows that ended by ``last``, in the order of their ends, some at a time."""
        if last >= 0:
            for keys in self.between(mark.key(b""), mark.key(BOUNDS.pack(last + 1, 0))):
                yield self._windows(keys)

    def between(self, first: bytes, end: bytes) -> Iterator[list[bytes]]:
        """Keys from ``first`` up to ``end``, which is not one of them, some at a time."""
        while found := self._store.keys(first, end, SOME):
            yield found
            first = found[-1] + b"\0"

    def _windows(self, keys: Sequence[bytes]) -> list[KeptWindow]:
        return [
            KeptWindow(first, last, key, kept or b"")
            for key, kept in zip(keys, self.found(keys), strict=True)
            for last, first in [BOUNDS.unpack_from(key, PREFIX)]
        ]


def by_group(rows: Iterable[TableRow]) -> Iterator[tuple[bytes, TableRow]]:
    """Of each window an entry in the order of groups; it is deleted with the window."""
    for row in rows:
        if row.key.startswith(GROUP):
            epoch, rest = row.key[1:PREFIX], row.key[PREFIX:]
            bounds, group = rest[: BOUNDS.size], rest[BOUNDS.size :]
            key = BY_GROUP + epoch + group + bounds
            yield key, TableRow(0, 0, 0, key, None if row.value is None else b"")


def _digest(group: bytes) -> bytes:
    """Keys of any length are found in order."""
    return hashlib.sha256(group).digest()


_admins: dict[str, GroupAdmin] = {}


def _whole_end(connection: Connection, topic: str) -> int:
    """Where the topic ends, once all transactions in it have ended."""
    admin = _admin(connection)
    end = _end(admin, topic, committed=False)
    deadline = time.monotonic() + MARKERS_SECONDS
    while _end(admin, topic, committed=True) < end:
        if time.monotonic() > deadline:
            raise BrokerUnavailable(f"a transaction in topic {topic} does not end")
        time.sleep(PAUSE)
    return end


def _admin(connection: Connection) -> GroupAdmin:
    """Kept for the next turns of this process."""
    name = repr(connection)
    if name not in _admins:
        _admins[name] = clients.admin(connection)
    return _admins[name]


def _end(admin: GroupAdmin, topic: str, *, committed: bool) -> int:
    found = topics.ends(admin, [(topic, 0)], committed=committed)
    if (topic, 0) not in found:
        raise BrokerUnavailable(f"the brokers do not say where topic {topic} ends")
    return found[topic, 0]
