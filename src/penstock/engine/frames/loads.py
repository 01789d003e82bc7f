"""What travels through Spark's plan beside the columns that expressions read.

A load is what one ``poll``, or one read of a topic, has brought. Its records are rows with a number
each, and behind them comes a row without a number, which carries everything else: the columns that
no expression changes, the records that were refused, and the offsets. So a load whose rows are all
dropped still moves the offsets, and what is untouched comes out as it went in.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from penstock.engine.frames.problems import Problem
from penstock.engine.lease.traces import trace_of
from penstock.sdk.batches import record_batch
from penstock.sdk.errors import FatalError, PenstockError
from penstock.sdk.offsets import ChangedOffset

Refused = tuple[pa.RecordBatch, Problem]
"""One record, as far as it got, and what was wrong with it."""


@dataclass(frozen=True)
class Load:
    """Records that come together, before Spark's step."""

    groups: Sequence[pa.RecordBatch] = ()
    """Each of one schema; their rows are numbered through."""
    refused: Sequence[Refused] = ()
    offsets: Sequence[ChangedOffset] = ()
    """Of a source: valid once all of it is delivered."""
    raw: pa.RecordBatch | None = None
    """Of a sink: the records of a topic-partition that these were made of."""
    failure: PenstockError | None = None
    """Nothing comes after this."""

    @property
    def rows(self) -> int:
        """How many records have numbers."""
        return sum(group.num_rows for group in self.groups)

    def without_values(self) -> Load:
        """For expressions that make other ones."""
        return replace(self, groups=[_without_value(group) for group in self.groups])


def _without_value(group: pa.RecordBatch) -> pa.RecordBatch:
    at = group.schema.get_field_index("value")
    return group.set_column(at, pa.field("value", pa.null()), pa.nulls(group.num_rows))


def without_payload(raw: pa.RecordBatch) -> pa.RecordBatch:
    """The same places in a topic, without the records, which nothing reads."""
    columns = {name: raw.column(name) for name in ("partition", "timestamp", "offset")}
    nothing = pa.nulls(raw.num_rows, pa.binary())
    return record_batch(raw.column("topic"), nothing, key=nothing, **columns)


def packed(load: Load) -> bytes:
    """As bytes, which only another stage of the same turn reads."""
    raw = None if load.raw is None else _bytes(load.raw)
    groups = [_bytes(group) for group in load.groups]
    refused = [(_bytes(record), problem) for record, problem in load.refused]
    offsets = [(dict(p), None if o is None else dict(o)) for p, o in load.offsets]
    return pickle.dumps((groups, refused, offsets, raw, load.failure))


def unpacked(data: bytes) -> Load:
    """From ``packed``."""
    parts = pickle.loads(data)  # noqa: S301 (made by the other stage of this turn)
    groups, refused, offsets, raw, failure = parts
    return Load(
        [_batch(group) for group in groups],
        [(_batch(record), problem) for record, problem in refused],
        offsets,
        None if raw is None else _batch(raw),
        failure,
    )


def failed(error: Exception, secrets: tuple[str, ...]) -> Load:
    """The end of a task's loads by an error of its own."""
    if isinstance(error, PenstockError):
        try:
            pickle.loads(pickle.dumps(error))  # noqa: S301 (our own)
        except Exception:  # noqa: BLE001 (an error with arguments of its own)
            return Load(failure=FatalError(str(error)))
        return Load(failure=error)
    return Load(failure=FatalError(trace_of(error, secrets)))


def _bytes(batch: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def _batch(data: bytes) -> pa.RecordBatch:
    with pa.ipc.open_stream(data) as reader:
        return reader.read_next_batch()
