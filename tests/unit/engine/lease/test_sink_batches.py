"""How many records a sink lease reads at once."""

from __future__ import annotations

import time
from typing import Any
from unittest.mock import Mock

import pyarrow as pa
import pytest

from penstock.columnar.plain_converters import StringConverter
from penstock.engine.lease.batch_size import MOST_RECORDS
from penstock.engine.lease.lease import Limits, Tolerance
from penstock.engine.lease.pace import Pace
from penstock.engine.lease.sink_lease import SinkLoop
from penstock.engine.pipeline.pipeline import Pipeline
from penstock.kafka.errors import LeaseLost
from penstock.sdk import RecordError, SinkTask, record_batch


def loop(tolerance: Tolerance | None = None, **settings: str) -> SinkLoop:
    dotted = {key.replace("_", "."): value for key, value in settings.items()}
    pipeline = Pipeline(StringConverter(), StringConverter())
    lease: Any = Mock(
        limits=Limits(),
        tolerance=tolerance or Tolerance(),
        pace=Pace(),
        consumer_settings=dotted,
        pipeline=pipeline,
    )
    return SinkLoop(lease, Mock(leases=lambda: 1))


@pytest.mark.parametrize(
    ("settings", "most"), [({}, MOST_RECORDS), ({"max_poll_records": "70"}, 70)]
)
def test_it_grows_while_puts_are_quick_up_to_max_poll_records(
    settings: dict[str, str], most: int
) -> None:
    reading = loop(None, **settings)
    assert reading._size.most <= most
    for _ in range(20):
        reading._learn(reading._size.most, seconds=0.001)
    assert reading._size.most == most
    reading._learn(reading._size.most, seconds=10)
    assert reading._size.most == most // 2


def test_it_shrinks_where_dead_letters_are_more_than_the_link_takes() -> None:
    reading = loop()
    before = reading._size.most
    reading._dead.waiting_bytes = 3 * reading._pace.most_bytes
    reading._learn(reading._size.most, seconds=0.001)
    assert reading._size.most == before // 2
    reading._begin()
    assert reading._commit_due(dry=False)


class AllBad(SinkTask):
    """Refuses everything, and takes a second of a played clock for each record."""

    def __init__(self, clock: list[float]) -> None:
        self._clock = clock

    def put(self, batch: pa.RecordBatch) -> None:
        self._clock[0] += 1.0
        raise RecordError("all are bad", row=0)

    def flush(self) -> str:
        return ""


def test_a_task_that_is_told_to_finish_need_not_refuse_a_whole_batch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each refusal is a sign of life; the records are given again, fewer at a time."""
    clock = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    reading = loop(Tolerance(all_errors=True))
    steps: list[float] = []
    reading._progress = Mock(
        step=lambda: steps.append(clock[0]), bad_records=0, skipped=0, dead_letters=0
    )
    reading._heartbeat = Mock(over=False)
    rows = pa.array([b"x"] * 50)
    numbers = pa.array(range(50), pa.int64())
    batch = record_batch("t", rows, offset=numbers, partition=pa.array([0] * 50, pa.int32()))
    assert reading._put(AllBad(clock), batch, batch) is None
    assert len(steps) >= 50
    reading._heartbeat = Mock(over=True)
    before = clock[0]
    with pytest.raises(LeaseLost, match="told to finish among many bad records"):
        reading._put(AllBad(clock), batch, batch)
    assert clock[0] - before < 5


def test_batches_grow_although_a_few_records_take_long() -> None:
    """A target that takes 0.15 s for each batch, however large it is."""
    reading = loop()
    sizes = [reading._size.most]
    for _ in range(10):
        reading._learn(reading._size.most, seconds=0.15)
        sizes.append(reading._size.most)
    assert sizes[:4] == [100, 200, 400, 800]
    assert sizes[-1] == MOST_RECORDS


class Placed(SinkTask):
    """Notes where records come from."""

    def __init__(self) -> None:
        self.places: list[tuple[str, int]] = []

    def put(self, batch: pa.RecordBatch) -> None:
        self.places.append(self.position_of(batch))

    def flush(self) -> str:
        return ""


def test_a_task_is_told_which_topic_was_read_whatever_a_transform_makes_of_it() -> None:
    reading, task = loop(), Placed()
    reading._progress = Mock(given=0)
    columns = {"offset": pa.array([3], pa.int64()), "partition": pa.array([2], pa.int32())}
    raw = record_batch("t", pa.array([b"x"]), **columns)
    routed = record_batch("elsewhere", pa.array([b"x"]), **columns)
    assert task.position_of(routed) == ("elsewhere", 2), "nobody has said anything else"
    assert reading._put(task, raw, routed) is None
    assert task.places == [("t", 2)]
