"""What a query with aggregates keeps of its groups: a topic that is its truth, and a copy on disk.

Everything of a turn is in one transaction: results, offsets, what is kept, and a *mark* that says
up to which offsets rows are in what is kept. So the copy, read to the end of the topic, is never
ahead of the offsets and never behind them. A turn that begins before the mark, because someone has
reset or rewound the offsets, begins a new *epoch*: nothing that was kept counts any more, and it is
deleted bit by bit.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from penstock.kafka import clients, topics
from penstock.kafka.clients import Connection, GroupAdmin
from penstock.kafka.errors import BrokerUnavailable
from penstock.kafka.range_reader import RangeGone
from penstock.sdk.frames import TopicRange
from penstock.sql.persistent.table_reading import TableTopic
from penstock.sql.persistent.table_store import TableStore

GROUP, MARK = b"g", b"m"
MARKERS_SECONDS = 20.0
"""How long the markers of the last transaction may take."""
PAUSE = 0.01
NEVER = -1


@dataclass(frozen=True)
class Mark:
    """Up to where rows are in what is kept, and the latest time of them, by partition."""

    epoch: int = 1
    offsets: Mapping[int, int] = field(default_factory=dict)
    times: Mapping[int, int] = field(default_factory=dict)

    @property
    def newest(self) -> int:
        """The latest time of all."""
        return max(self.times.values(), default=NEVER)

    def begun(self, ranges: Sequence[TopicRange]) -> Mark:
        """The mark that a turn over these goes on from."""
        back = any(r.start < self.offsets.get(r.partition, r.start) for r in ranges)
        return Mark(self.epoch + 1) if back else self

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
        offsets, times = ({int(p): at for p, at in read[k].items()} for k in ("offsets", "times"))
        return Mark(read["epoch"], offsets, times)

    def key(self, group: bytes, start: int | None = None) -> bytes:
        """The key of what is kept of a group, in the order of the beginnings of windows."""
        window = b"" if start is None else start.to_bytes(8, "big")
        return GROUP + self.epoch.to_bytes(4, "big") + window + group


class GroupState:
    """The copy of one query's state, in one process."""

    def __init__(self, store: TableStore, topic: TableTopic | None) -> None:
        """Without a topic there is nothing but what is in the store."""
        self._store = store
        self._topic = topic

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
                store.put((row.key, row) for row in rows)
            store.move({0: end})

    def found(self, keys: Sequence[bytes | None]) -> list[bytes | None]:
        """What is kept under each key."""
        return [row and row.value for row in self._store.found(keys)]

    def outdated(self, mark: Mark, closed: int | None, most: int) -> list[bytes]:
        """Keys that are not needed any more: of earlier epochs, and of windows that began by
        ``closed``."""
        first = self._store.keys(GROUP, GROUP + mark.epoch.to_bytes(4, "big"), most)
        if closed is None or closed < 0 or len(first) == most:
            return first
        last = mark.key(b"", closed + 1)
        return first + self._store.keys(mark.key(b"", 0), last, most - len(first))


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
        raise BrokerUnavailable(f"the brokers do not tell where topic {topic} ends")
    return found[topic, 0]
