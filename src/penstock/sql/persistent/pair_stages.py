"""The stages of joins of two streams, or of two tables: records into pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from penstock.sdk.frames import TopicRange
from penstock.sql.persistent.group_state import NEVER, Mark
from penstock.sql.persistent.pair_rows import Record
from penstock.sql.persistent.state_stages import StateAccess
from penstock.sql.planning.pair_text import PAIRED_COLUMNS, SIDE, SIDE_ERROR
from penstock.sql.planning.turn_text import JOIN_KEY, TIME

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

BATCH = 4096
NO_RECORD: tuple[None, ...] = (None,) * 5


def number_of(side: int, partition: int) -> int:
    """The number of a side's partition among those of both sides."""
    return 2 * partition + side


@dataclass(frozen=True)
class PairAccess:
    """How the stage of a join reaches what it needs in one turn; travels to the executors."""

    state: StateAccess
    """With ranges of partitions as ``number_of`` counts them."""
    ends: Mapping[int, int]
    """Where these end."""

    def unread(self, mark: Mark) -> set[int]:
        """Partitions that have more records than the turn reads."""
        at = {**mark.offsets, **{r.partition: r.stop for r in self.state.ranges}}
        return {number for number, end in self.ends.items() if at.get(number, end) < end}


def ranges_of(ranges: Iterable[TopicRange], topics: Sequence[str]) -> tuple[TopicRange, ...]:
    """The same with partitions as ``number_of`` counts them."""
    return tuple(
        each._replace(partition=number_of(topics.index(each.topic), each.partition))
        for each in ranges
    )


class Arrived(NamedTuple):
    """A record of a turn, and what was found out about it."""

    side: int
    key: bytes | None
    time: int | None
    error: str | None
    record: Record

    @property
    def number(self) -> int:
        """Of its partition, among those of both sides."""
        return number_of(self.side, self.record.partition)


@dataclass
class Arrivals:
    """The records of a turn."""

    task: int = 0
    of_partition: dict[int, list[Arrived]] = field(default_factory=dict)

    @staticmethod
    def of(batches: Iterable[pa.RecordBatch]) -> Arrivals:
        """All of them."""
        found = Arrivals()
        for batch in batches:
            if batch.num_rows:
                found.task = batch.column("task")[0].as_py()
            for each in _arrived(batch):
                found.of_partition.setdefault(each.number, []).append(each)
        for arrived in found.of_partition.values():
            arrived.sort(key=lambda each: each.record.offset)
        return found

    def latest(self) -> dict[int, int]:
        """The latest time of each partition that has any."""
        times = {
            number: [each.time for each in arrived if each.time is not None and not each.error]
            for number, arrived in self.of_partition.items()
        }
        return {number: max(found) for number, found in times.items() if found}

    def in_order(self) -> list[Arrived]:
        """Those of each partition in their order; of several, the earliest first."""
        ranked: list[tuple[int, int, int, Arrived]] = []
        for number, arrived in self.of_partition.items():
            latest = NEVER
            for count, each in enumerate(arrived):
                latest = max(latest, NEVER if each.time is None else each.time)
                ranked.append((latest, number % 2, count, each))
        ranked.sort(key=lambda one: one[:3])
        return [each for *_, each in ranked]


def _arrived(batch: pa.RecordBatch) -> Iterator[Arrived]:
    names = ("partition", "offset", "key", "value", "headers", SIDE, JOIN_KEY, TIME, SIDE_ERROR)
    columns = [batch.column(name).to_pylist() for name in names]
    stamps = pc.divide(pc.cast(batch.column("timestamp"), pa.int64()), 1000).to_pylist()
    for stamp, row in zip(stamps, zip(*columns, strict=True), strict=True):
        partition, offset, key, value, headers, side, join_key, time, error = row
        told = tuple((each["key"], each["value"]) for each in headers or ())
        record = Record(partition, offset, stamp or 0, key, value, told)
        yield Arrived(side, join_key, time, error, record)


class Out:
    """The rows that a stage gives, in batches; each row has the columns of ``PAIRED_COLUMNS``."""

    def __init__(self, task: int, schema: pa.Schema) -> None:
        self._task = task
        self._schema = schema
        self._rows: list[tuple[Any, ...]] = []

    def pair(
        self, left: Record | None, right: Record | None, time: int, **more: Any
    ) -> Iterator[pa.RecordBatch]:
        """A row that comes out; with ``state_key``, ``note``, and ``shown`` of what is stored."""
        paired = more.get("paired", True)
        kept = (more.get("state_key"), more.get("note"), more.get("shown"))
        return self._add(left, right, (paired, time, None, *kept))

    def wrong(self, record: Record, error: str) -> Iterator[pa.RecordBatch]:
        """A record that cannot be joined."""
        return self._add(record, None, (False, None, error, None, None, None))

    def note(self, key: bytes, value: bytes | None) -> Iterator[pa.RecordBatch]:
        """A record of the state."""
        return self._add(None, None, (False, None, None, key, value, None))

    def _add(
        self, left: Record | None, right: Record | None, rest: tuple[Any, ...]
    ) -> Iterator[pa.RecordBatch]:
        self._rows.append((*_left(left), *_right(right), *rest))
        if len(self._rows) >= BATCH:
            yield from self.rest()

    def rest(self) -> Iterator[pa.RecordBatch]:
        """What has not been given yet."""
        if self._rows:
            columns = [[self._task] * len(self._rows), *zip(*self._rows, strict=True)]
            arrays = [
                pa.array(values, each.type)
                for values, each in zip(columns, self._schema, strict=True)
            ]
            self._rows = []
            yield pa.RecordBatch.from_arrays(arrays, schema=self._schema)


def _left(record: Record | None) -> tuple[Any, ...]:
    if record is None:
        return (*NO_RECORD, None)
    headers = [{"key": key, "value": value} for key, value in record.headers]
    place = (record.key, record.value, record.partition, record.offset)
    return (*place, record.timestamp * 1000, headers)


def _right(record: Record | None) -> tuple[Any, ...]:
    if record is None:
        return NO_RECORD
    return (record.key, record.value, record.partition, record.offset, record.timestamp * 1000)


def pair_columns() -> StructType:
    """What a stage of joins gives."""
    from pyspark.sql.types import StructField, StructType, _parse_datatype_string

    return StructType(
        [StructField(name, _parse_datatype_string(kind)) for name, kind in PAIRED_COLUMNS.items()]
    )
