"""The last stage of a sink's turn with a step in Spark SQL: the task puts what has become of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from penstock.engine.frames.frame_lease import FrameLease
from penstock.engine.frames.last_stage import Encode, last_stage
from penstock.engine.frames.loaded import Arriving, Loaded
from penstock.engine.frames.problems import PROBLEM, Problem
from penstock.engine.frames.row_loop import ASK_SECONDS, run_loop
from penstock.engine.frames.task_frame import Stage
from penstock.engine.frames.whole_input import refuse_cut_input
from penstock.engine.lease.heartbeats import Heartbeat
from penstock.engine.lease.lease import Report
from penstock.engine.lease.sink_lease import SinkLoop
from penstock.engine.lease.topic_reader import before, position_of
from penstock.kafka.errors import LeaseLost
from penstock.kafka.groups import Committed
from penstock.kafka.topics import PartitionId
from penstock.sdk.errors import RetriableError


class LoadReader:
    """Implements ``Reader`` over the loads of a stage."""

    def __init__(
        self,
        batches: Iterable[pa.RecordBatch],
        starts: Mapping[PartitionId, int],
        ends: Mapping[PartitionId, int],
        whole: Callable[[], None],
    ) -> None:
        self.reached: dict[PartitionId, int] = {}
        self.ended = False
        self.now: Loaded | None = None
        """What ``read`` has returned last."""
        self._starts, self._ends, self._whole = starts, ends, whole
        arriving = Arriving()
        self._loads = (loaded for batch in batches for loaded in arriving.loads(batch))

    def read(self, most: int, patience: float) -> list[pa.RecordBatch]:
        """The records of the next load; waits for Spark."""
        self.now = next(self._loads, None)
        if self.now is None:
            self._whole()
            self.ended = True
            self.reached |= {p: end for p, end in self._ends.items() if end > self._starts[p]}
            return []
        if (failure := self.now.load.failure) is not None:
            lost = isinstance(failure, RetriableError)
            raise LeaseLost(str(failure)) if lost else failure
        raw = self.now.load.raw
        assert raw is not None  # noqa: S101 (every load of a sink has one)
        self.reached[position_of(raw)] = raw.column("offset")[-1].as_py() + 1
        return [raw]

    def reached_before(self, left: Sequence[pa.RecordBatch]) -> dict[PartitionId, int]:
        """As ``reached``, as if these had not been returned."""
        return before(left, self.reached, self._starts)

    def close(self) -> None:
        """Spark closes what it has opened."""


class PutLoop(SinkLoop):
    """The state of one task of a turn."""

    def __init__(self, lease: FrameLease, heartbeat: Heartbeat, reader: LoadReader) -> None:
        super().__init__(lease, heartbeat)
        self._loads = reader
        self._asked = time.monotonic()

    def _open_reader(self) -> LoadReader:
        return self._loads

    def _over(self) -> bool:
        return self._heartbeat.over or self._loads.ended

    def _decode(self, raw: pa.RecordBatch) -> list[pa.RecordBatch]:
        """Spark has decoded them already: those of ``raw``, after the other transforms."""
        assert self._loads.now is not None  # noqa: S101 (they were read)
        for part in self._loads.now.bad():
            self._refuse(raw, _of(part.batch, raw))
        good = [_of(part.batch, raw) for part in self._loads.now.good()]
        return [
            made
            for batch in good
            if batch.num_rows
            for made in self._pipeline.transform_of(batch, raw)
        ]

    def _refuse(self, raw: pa.RecordBatch, bad: pa.RecordBatch) -> None:
        if bad.num_rows:
            row = raw.column("offset").index(bad.column("offset")[0]).as_py()
            raise Problem.read(bad.column(PROBLEM)[0].as_py()).error(row)

    def _commit(
        self, ends: dict[PartitionId, Committed], began: float, *, here: bool = False
    ) -> None:
        if time.monotonic() - self._asked > ASK_SECONDS:
            self._ask_before_beginning()
            self._asked = time.monotonic()
        super()._commit(ends, began, here=here)


def _of(batch: pa.RecordBatch, raw: pa.RecordBatch) -> pa.RecordBatch:
    """What of ``batch`` was made of these records."""
    return batch.filter(pc.is_in(batch.column("offset"), value_set=raw.column("offset")))


def putting(leases: Sequence[FrameLease], confirm: Callable[[], bool], encode: Encode) -> Stage:
    """For Spark, whose partition n has the loads of ``leases[n]``. ``confirm`` asks the worker."""

    def run(part: int, batches: Iterable[pa.RecordBatch]) -> Any:
        return encode(_put(leases[part], batches, confirm))

    return last_stage(run)


def _put(
    lease: FrameLease, batches: Iterable[pa.RecordBatch], confirm: Callable[[], bool]
) -> Report:
    starts = {(a.topic, a.partition): a.offset for a in lease.assignments}
    ends = {(r.topic, r.partition): r.stop for r in lease.ranges}
    reader = LoadReader(batches, starts, ends, refuse_cut_input)

    def loop(resolved: FrameLease, heartbeat: Heartbeat) -> PutLoop:
        return PutLoop(resolved, heartbeat, reader)

    return run_loop(lease, confirm, loop)
