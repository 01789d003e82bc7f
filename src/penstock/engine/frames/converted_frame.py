"""Keys and values by a connector's own converters, as columns: a stage of Spark's, over Arrow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from penstock.engine.frames.fitting import JSON, TYPED, Fitting, as_type, texts
from penstock.engine.frames.frame_lease import FrameLease
from penstock.engine.frames.loads import Refused
from penstock.engine.frames.problems import PROBLEM, READING, Problem
from penstock.engine.frames.sql_frame import BROKEN, type_of, with_value
from penstock.engine.lease.decoding import Decode, decoded
from penstock.engine.lease.heartbeats import Heartbeat
from penstock.engine.lease.lease_config import resolved
from penstock.engine.lease.lease_logs import logged
from penstock.engine.lease.retrying import Waits, retried
from penstock.engine.pipeline.pipeline import Pipeline
from penstock.engine.pipeline.recipe import Recipe
from penstock.engine.pipeline.stage_error import StageError, class_name
from penstock.sdk.batches import record_batch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

CONVERTED_KEY: Final = "converted_key"
CONVERTED_VALUE: Final = "converted_value"
ERROR: Final = "error"


def converted(records: DataFrame, schema: str, *, lease: FrameLease) -> DataFrame:
    """See ``FrameTurn.converted``. ConfigError for a schema that is none."""
    from pyspark.sql import functions as sql
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StringType, StructField, StructType

    assert isinstance(lease.pipeline, Recipe)  # noqa: S101 (it is resolved where it is used)
    kind, step = type_of(schema), class_name(lease.pipeline.value[0])
    refusal = Problem("", READING, step)
    added = [StructField(name, StringType()) for name in (CONVERTED_KEY, JSON, PROBLEM)]
    typed = StructField(TYPED, kind)
    wanted = to_arrow_schema(StructType([typed])).field(0).type
    plain = replace(lease, pipeline=replace(lease.pipeline, transforms=(), headers=None))
    stage = Converting(plain, Fitting(wanted, f"the schema, {schema}", refusal))
    rows = records.mapInArrow(stage, StructType([*records.schema.fields, *added, typed]))
    read = with_value(rows, kind, CONVERTED_VALUE)
    broken = replace(refusal, text=f"the value is not JSON of the schema, {schema}").written
    error = sql.col(PROBLEM)
    if BROKEN in read.columns:
        error = sql.coalesce(error, sql.when(sql.col(BROKEN), sql.lit(broken)))
    own = [*records.columns, CONVERTED_KEY, CONVERTED_VALUE]
    return read.select(*own, error.alias(ERROR))


@dataclass(frozen=True)
class Converting:
    """The stage: rows keep their order and their columns, and get further ones. Picklable."""

    lease: FrameLease
    fitting: Fitting

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with logged(self.lease):
            decode = _patiently(resolved(self.lease))
            for batch in batches:
                added = self.added(batch, decode)
                names = [*batch.schema.names, *added]
                yield pa.RecordBatch.from_arrays([*batch.columns, *added.values()], names=names)

    def added(self, batch: pa.RecordBatch, decode: Decode) -> dict[str, pa.Array]:
        """The further columns of these rows."""
        raw, refused = _numbered(batch), list[Refused]()

        def set_aside(row: int, error: StageError) -> None:
            refused.append((raw.slice(row, 1), Problem.of(error)))

        groups, _ = decoded(raw, decode, set_aside)
        parts = [self._columns(*self.fitting.columns(group, refused)) for group in groups]
        parts.append(self._refused(refused))
        joined = {name: pa.concat_arrays([each[name] for each in parts]) for name in parts[0]}
        order = pa.array(np.argsort(joined.pop("row").to_numpy(zero_copy_only=False)))
        return {name: column.take(order) for name, column in joined.items()}

    def _columns(self, group: pa.RecordBatch, value: Mapping[str, pa.Array]) -> dict[str, pa.Array]:
        rows = group.num_rows
        nothing = pa.nulls(rows, pa.string())
        typed = value.get(TYPED, pa.nulls(rows, self.fitting.wanted))
        return {
            "row": group.column("offset"),
            CONVERTED_KEY: texts(group.column("key")),
            JSON: value.get(JSON, nothing),
            PROBLEM: nothing,
            TYPED: as_type(typed, self.fitting.wanted),
        }

    def _refused(self, refused: Sequence[Refused]) -> dict[str, pa.Array]:
        rows = pa.array([record.column("offset")[0].as_py() for record, _ in refused], pa.int64())
        nothing = self._columns(record_batch("", pa.nulls(len(rows)), offset=rows), {})
        problems = [problem.written for _, problem in refused]
        return {**nothing, PROBLEM: pa.array(problems, pa.string())}


def _patiently(lease: FrameLease) -> Decode:
    """By the converters; what may work later is tried again for as long as the lease tolerates."""
    pipeline, heartbeat = lease.pipeline, Heartbeat()
    assert isinstance(pipeline, Pipeline)  # noqa: S101 (its settings are resolved)
    waits = Waits(heartbeat.progress, lease.secrets)

    def decode(part: pa.RecordBatch) -> list[pa.RecordBatch]:
        return retried(lambda: list(pipeline.decode(part)), lease.tolerance, heartbeat, waits)

    return decode


def _numbered(batch: pa.RecordBatch) -> pa.RecordBatch:
    """As records, whose offsets are their rows."""
    rows = pa.array(np.arange(batch.num_rows), pa.int64())
    key, value = (batch.column(name) for name in ("key", "value"))
    return record_batch("", value, key=key, offset=rows)
