"""Which records of a turn that ends in a format cannot be read: looked for before it is written.

A look is a job of its own. It takes only so many from each partition of a topic, since they pass
through the worker: where there are more, it says from which offset on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.compute as pc

from penstock.engine.frames.converted_frame import ERROR
from penstock.engine.frames.turn import UNREADABLE
from penstock.kafka.topics import PartitionId
from penstock.sdk.batches import HEADERS, record_batch

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

POSITION: Final = ("topic", "partition", "offset")
PAYLOAD: Final = ("key", "value", "timestamp", "headers")
TYPES: Final = (
    "topic string, partition int, offset bigint, key binary, value binary, timestamp timestamp, "
    "headers array<struct<key:string,value:binary>>, error string"
)
MOST_BYTES = 8 << 20
"""Of the records that a look takes, about."""
OVERHEAD = 500


@dataclass(frozen=True)
class Sifted:
    """What a look has found."""

    records: pa.RecordBatch
    """The refused, in the layout of ``penstock.sdk.batches``; without payload, if not asked for."""
    errors: tuple[str, ...] = ()
    """Of each of them."""
    cuts: Mapping[PartitionId, int] = field(default_factory=dict)
    """Offsets up to which the partitions were looked at that had too many."""

    @property
    def positions(self) -> pa.Table:
        """Where they are."""
        return pa.table([self.records.column(name) for name in POSITION], names=[*POSITION])

    @property
    def first(self) -> dict[PartitionId, int]:
        """The first of each partition."""
        found: dict[PartitionId, int] = {}
        for row in self.positions.to_pylist():
            place = (row["topic"], row["partition"])
            found[place] = min(row["offset"], found.get(place, row["offset"]))
        return found

    @property
    def digest(self) -> str:
        """Tells whether two looks have refused the same; empty if none was."""
        places = sorted(tuple(row.values()) for row in self.positions.to_pylist())
        return hashlib.sha256(repr(places).encode()).hexdigest()[:16] if places else ""


NOTHING = Sifted(record_batch("", pa.nulls(0, pa.binary()), offset=pa.nulls(0, pa.int64())))


def sifted(decoded: DataFrame, *, most: int = MOST_BYTES, payload: bool = True) -> Sifted:
    """The refused records of ``decoded``, which has ``error``: up to ``most`` bytes of each
    partition, and one at least."""
    from pyspark.sql import functions as sql

    known = [name for name in PAYLOAD if payload and name in decoded.columns]
    bad = decoded.where(sql.col(ERROR).isNotNull()).select(*POSITION, *known, ERROR)
    found = bad.mapInArrow(Few(most), TYPES).toArrow()
    is_cut = found.column(ERROR).is_null()
    kept, cut = found.filter(pc.invert(is_cut)), found.filter(is_cut).select(POSITION)
    cuts = {(row["topic"], row["partition"]): row["offset"] for row in cut.to_pylist()}
    return Sifted(records_of(kept), tuple(kept.column(ERROR).to_pylist()), cuts)


def records_of(found: pa.Table) -> pa.RecordBatch:
    """What ``Few`` has let through, as a reader of topics has it."""
    rows = {name: found.column(name).combine_chunks() for name in (*POSITION, *PAYLOAD)}
    stamps = rows["timestamp"].cast(pa.timestamp("ms", "UTC"), safe=False).cast(pa.int64())
    return record_batch(
        rows["topic"].dictionary_encode(),
        rows["value"],
        key=rows["key"],
        partition=rows["partition"],
        timestamp=stamps,
        headers=rows["headers"].cast(HEADERS),
        offset=rows["offset"],
    )


@dataclass(frozen=True)
class Few:
    """The stage: of each partition so many bytes of records, one at least; then one without an
    error, which is where it stops. Picklable."""

    most: int

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        taken: dict[PartitionId, int] = {}
        for batch in batches:
            rows, ends = self._chosen(batch, taken)
            if rows:
                yield _row_batch(batch.take(pa.array(rows)), pa.array(ends))

    def _chosen(
        self, batch: pa.RecordBatch, taken: dict[PartitionId, int]
    ) -> tuple[list[int], list[bool]]:
        """Which rows go on, and of which of them only the place does."""
        rows, ends = [], []
        columns = [batch.column(name).to_pylist() for name in ("topic", "partition")]
        for row, (*place, size) in enumerate(zip(*columns, _sizes(batch), strict=True)):
            before = taken.get((place[0], place[1]), 0)
            if before < 0:
                continue
            over = before > 0 and before + size > self.most
            taken[place[0], place[1]] = -1 if over else before + size
            rows.append(row)
            ends.append(over)
        return rows, ends


def _sizes(batch: pa.RecordBatch) -> list[int]:
    found = pa.array([OVERHEAD] * batch.num_rows, pa.int64())
    for name in {"key", "value"}.intersection(batch.schema.names):
        found = pc.add(found, pc.fill_null(pc.binary_length(batch.column(name)), 0))
    sizes: list[int] = found.to_pylist()
    return sizes


def _row_batch(batch: pa.RecordBatch, ends: pa.BooleanArray) -> pa.RecordBatch:
    known = {
        each.name: batch.column(each.name).cast(each.type)
        if each.name in batch.schema.names
        else pa.nulls(batch.num_rows, each.type)
        for each in SCHEMA
    }
    known[ERROR] = pc.if_else(ends, None, known[ERROR])
    return pa.RecordBatch.from_arrays([*known.values()], schema=SCHEMA)


SCHEMA: Final = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("timestamp", pa.timestamp("us", "UTC")),
        ("headers", HEADERS),
        (ERROR, pa.string()),
    ]
)


def without(records: DataFrame, refused: Sifted) -> DataFrame:
    """``records`` but for these."""
    from pyspark.sql import functions as sql

    if not refused.records.num_rows:
        return records
    places = refused.positions.cast(pa.schema([SCHEMA.field(name) for name in POSITION]))
    known = records.sparkSession.createDataFrame(places)
    return records.join(sql.broadcast(known), [*POSITION], "left_anti").select(*records.columns)


def checked(decoded: DataFrame, records: DataFrame) -> DataFrame:
    """``decoded`` without its errors: to read what could not be decoded ends the job.

    In the columns and not as a filter, which Spark would move to where it decodes twice.
    """
    from pyspark.sql import functions as sql

    def column(name: str) -> Column:
        if name in records.columns:
            return sql.col(name)
        bad = sql.when(sql.col(ERROR).isNotNull(), sql.raise_error(sql.lit(UNREADABLE)))
        return bad.otherwise(sql.col(name)).alias(name)

    return decoded.select([column(name) for name in decoded.columns if name != ERROR])
