"""A table's topic into its store: all of it at first, then beside the rows that it is joined with.

The state of a key is its last record by the order of the log. Between the table and the stream,
records go by their times, and of equal times the table's comes first. What the table has got by the
time the stream is read to its end is applied then, whatever its time, as Kafka Streams would.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from penstock.kafka import clients, topics
from penstock.kafka.clients import Connection
from penstock.kafka.range_reader import Range, RangeGone, read_range
from penstock.sql.avro.columns import AvroTexts
from penstock.sql.avro.registry import NO_REGISTRY, SqlRegistry
from penstock.sql.persistent.table_store import TableRow, TableStore, Writing

log = logging.getLogger(__name__)

Ends = Mapping[int, int]
ENOUGH = Context(prec=100)
"""More digits than a DECIMAL or a DOUBLE has."""


@dataclass(frozen=True)
class TableTopic:
    """Where a table's records are, and how they are written."""

    connection: Connection
    topic: str
    json_keys: bool
    json_values: bool
    registry: SqlRegistry = NO_REGISTRY
    avro: tuple[bool, bool] = (False, False)
    """Whether keys, and values, are Avro: their JSON is what is kept."""

    def key(self, raw: bytes) -> bytes:
        """The same for equal keys: JSON can be written in several ways, with a schema or not."""
        return canonical(raw) if self.json_keys else raw

    def rows(self, partition: int, start: int, stop: int) -> Iterator[list[TableRow]]:
        """The records of a range that are rows: with a key, and of a value that can be read."""
        unreadable = 0
        for batch in read_range(
            self.connection, Range(self.topic, partition, start, stop), headers=False
        ):
            rows = list(_rows(self._in_json(batch), partition))
            good = [row for row in rows if self._readable(row.value)]
            unreadable += len(rows) - len(good)
            yield good
        if unreadable:
            log.warning(
                "%s-%s: %s records skipped: the value is no %s",
                self.topic,
                partition,
                unreadable,
                "Avro record" if self.avro[1] else "JSON object",
            )

    def _in_json(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """A value that cannot be read becomes empty, which is not JSON."""
        for name, is_avro in zip(("key", "value"), self.avro, strict=True):
            if is_avro:
                raw, place = batch.column(name), batch.schema.get_field_index(name)
                texts = AvroTexts(self.registry, name == "key").read(raw).fill_null(b"")
                batch = batch.set_column(place, name, pc.if_else(raw.is_valid(), texts, None))
        return batch

    def _readable(self, value: bytes | None) -> bool:
        if value is None or not self.json_values:
            return True
        try:
            return isinstance(orjson.loads(value), dict)
        except orjson.JSONDecodeError:
            return False

    def beginnings(self, partitions: Sequence[int]) -> dict[int, int]:
        """Where the log begins now."""
        admin = clients.admin(self.connection)
        found = topics.beginnings(admin, [(self.topic, p) for p in partitions])
        return {p: found.get((self.topic, p), 0) for p in partitions}


def canonical(raw: bytes) -> bytes:
    """A JSON key in one form; a key that is not JSON stays as it is."""
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return raw
    if _has_floats(value):
        value = json.loads(raw, parse_float=Decimal, parse_int=Decimal)
    if isinstance(value, dict) and value.keys() == {"schema", "payload"}:
        value = value["payload"]
    return orjson.dumps(value, default=_shortest, option=orjson.OPT_SORT_KEYS)


def _has_floats(value: object) -> bool:
    """Whether it has a number that may have had more digits."""
    if isinstance(value, dict | list):
        return any(map(_has_floats, value.values() if isinstance(value, dict) else value))
    return isinstance(value, float)


def _shortest(number: Decimal) -> int | str:
    """Equal for equal numbers, and as whole ones are without fractions beside them."""
    plain = ENOUGH.normalize(number)
    is_small = plain == plain.to_integral_value() and abs(plain) < 1 << 63
    return int(plain) if is_small else str(plain)


def _rows(batch: pa.RecordBatch, partition: int) -> Iterator[TableRow]:
    columns = [batch.column(name).to_pylist() for name in ("offset", "timestamp", "key", "value")]
    for offset, time, key, value in zip(*columns, strict=True):
        if key is not None:
            yield TableRow(partition, offset, time or 0, key, value)


@dataclass
class JoinedTable:
    """A table as the rows of one partition of a stream find it, one turn long."""

    store: TableStore
    topic: TableTopic
    ends: Ends
    """Where its partitions end in this turn."""
    bootstrap: bool
    _pending: list[_Waiting] = field(default_factory=list)

    def prepare(self) -> None:
        """Make the store fit for the turn; a new one is loaded to the end, if so wished."""
        if not self._is_sound(self.store.positions()):
            self._begin()
        try:
            self._pending = self._waiting(self.store.positions())
        except RangeGone:
            log.warning("loading table %s again: records were deleted", self.topic.topic)
            self._begin(again=True)

    def _is_sound(self, positions: Ends) -> bool:
        """Whether reading can go on from these: a recreated topic may end before them."""
        return all(positions.get(p, end + 1) <= end for p, end in self.ends.items())

    def _begin(self, *, again: bool = False) -> None:
        """Load the table, as one change: readers find all of it, or what was there before."""
        with self.store.writing() as store:
            if self._is_sound(store.positions()) and not again:
                return  # another process was faster
            store.clear()
            begin = self.topic.beginnings(sorted(self.ends))
            if self.bootstrap or again:
                self._load(store, begin)
            store.move(self.ends if self.bootstrap or again else begin)

    def _load(self, store: Writing, begin: Ends) -> None:
        for partition, end in self.ends.items():
            for rows in self.topic.rows(partition, begin[partition], end):
                store.put((self.topic.key(row.key), row) for row in rows)

    def _waiting(self, positions: Ends) -> list[_Waiting]:
        behind = {p: positions[p] for p, end in self.ends.items() if positions[p] < end}
        found = [_Waiting(self.topic, p, at, self.ends[p]) for p, at in behind.items()]
        for each in found:
            each.advance()
        return found

    def found(self, times: Sequence[int], keys: Sequence[bytes | None]) -> list[TableRow | None]:
        """The row that each key has at its time. Times and keys are in the order of the stream."""
        wanted = [None if key is None else self.topic.key(key) for key in keys]
        if not self._pending:
            return self.store.found(wanted)
        with self.store.writing() as store:
            rows = []
            for time, key in zip(times, wanted, strict=True):
                self._apply(store.put, lambda row, until=time: row.time <= until)  # type: ignore[misc]  # mypy: a lambda with a default
                rows.append(store.found(key))
            self._note(store)
        return rows

    def finish(self) -> None:
        """The stream has no more rows: what the table has got is applied."""
        if self._pending:
            with self.store.writing() as store:
                self._apply(store.put, lambda _: True)
                self._note(store)

    def _apply(
        self, put: Callable[[list[tuple[bytes, TableRow]]], None], due: Callable[[TableRow], bool]
    ) -> None:
        """Rows that are due, the earliest of all partitions first."""
        while heads := [each for each in self._pending if each.head and due(each.head)]:
            first = min(heads, key=lambda each: each.time)
            assert first.head is not None  # noqa: S101 (these have one)
            put([(self.topic.key(first.head.key), first.head)])
            first.advance()

    def _note(self, store: Writing) -> None:
        store.move({each.partition: each.position for each in self._pending})
        self._pending = [each for each in self._pending if each.head]


class _Waiting:
    """Rows of one partition that are still to be applied; ``head`` is the next, if there is one."""

    def __init__(self, topic: TableTopic, partition: int, start: int, stop: int) -> None:
        self.partition = partition
        self.head: TableRow | None = None
        self._stop = stop
        self._rows = (row for rows in topic.rows(partition, start, stop) for row in rows)

    @property
    def time(self) -> int:
        """Of the next row."""
        return self.head.time if self.head else 0

    @property
    def position(self) -> int:
        """The offset to go on from."""
        return self.head.offset if self.head else self._stop

    def advance(self) -> None:
        """Go on to the next row."""
        self.head = next(self._rows, None)
