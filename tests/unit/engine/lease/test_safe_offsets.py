"""A sink task says which offsets are safe: less than everything is committed, nothing is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pyarrow as pa
import pytest

from penstock.columnar.plain_converters import StringConverter
from penstock.engine.lease import topic_reader
from penstock.engine.lease.heartbeats import Progress
from penstock.engine.lease.lease import Limits, Membership, Tolerance
from penstock.engine.lease.pace import Pace
from penstock.engine.lease.safe_offsets import safe_positions
from penstock.engine.lease.sink_lease import SinkLoop
from penstock.engine.lease.topic_reader import TopicReader
from penstock.engine.pipeline.pipeline import Pipeline
from penstock.sdk import Assignment, Assignments, Flushed
from penstock.sdk.batches import record_batch
from penstock.sdk.errors import FatalError, TakenOver
from sample_connectors.packing_sink import PackingSinkTask

T, U = ("t", 0), ("u", 0)


@pytest.mark.parametrize(
    ("named", "committed"),
    [
        (None, 12),  # all that was put, and the marker after it
        ({}, 5),
        ({T: 7}, 7),
        ({T: 3}, 5),  # never back
        ({T: 11}, 12),  # the last record was 10
        ({T: 99}, 12),  # never beyond what was read
    ],
)
def test_how_much_is_safe(named: dict[tuple[str, int], int] | None, committed: int) -> None:
    found = safe_positions(Flushed("x", named), {T: 12}, {T: (5, "w")}, {T: (5, 11)})
    assert found == {T: (committed, "x")}


def test_where_nothing_was_put_all_that_was_read_is_safe() -> None:
    assert safe_positions(Flushed(offsets={}), {T: 9}, {T: (5, "")}, {}) == {T: (9, "")}


def test_each_partition_has_its_text_and_keeps_it_if_none_is_given() -> None:
    found = safe_positions(Flushed({T: "new"}), {T: 2, U: 3}, {T: (0, "a"), U: (0, "b")}, {})
    assert found == {T: (2, "new"), U: (3, "b")}


def raw(values: list[str], first: int) -> pa.RecordBatch:
    rows = len(values)
    return record_batch(
        "t",
        pa.array([value.encode() for value in values], pa.binary()),
        key=pa.nulls(rows, pa.binary()),
        partition=pa.array([0] * rows, pa.int32()),
        offset=pa.array(range(first, first + rows), pa.int64()),
    )


def loop(reads: int, metadata: str = "") -> SinkLoop:
    """A lease of t-0 from offset 0 on that ends after so many reads."""
    key, value = StringConverter(), StringConverter()
    key.configure({}, is_key=True)
    value.configure({}, is_key=False)
    lease: Any = Mock(
        limits=Limits(transaction_seconds=0.0, poll_pause=0.0),
        tolerance=Tolerance(),
        consumer_settings={},
        pipeline=Pipeline(key, value),
        connector="orders",
        group="connect-orders",
        membership=Membership(b"", "workers"),
        topic_ids={},
        pace=Pace(),
        assignments=(Assignment("t", 0, 0, metadata),),
    )
    left = iter([False] * reads)
    heartbeat = Mock(progress=Progress(), leases=lambda: 1, standing=lambda: None)
    type(heartbeat).over = property(lambda _: next(left, True))
    heartbeat.orphaned.is_set.return_value = False
    made = SinkLoop(lease, heartbeat)
    made._producer = Mock()
    return made


def commits(running: SinkLoop) -> list[tuple[int, str]]:
    """Offset and metadata of each transaction."""
    calls = running._producer.commit.call_args_list  # type: ignore[attr-defined]  # a Mock
    return [tuple(call.args[1][0].offsets[0][2:]) for call in calls]


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., TopicReader]]:
    made: list[TopicReader] = []

    def begin(*script: pa.RecordBatch) -> TopicReader:
        left = iter([batch] for batch in script)
        source = Mock(take=lambda _most, _patience: (next(left, []), []))
        monkeypatch.setattr(topic_reader, "column_source", lambda *_, **__: source)
        made.append(TopicReader(Mock(), {T: 0}))
        return made[-1]

    yield begin
    for reader in made:
        reader.close()


def packing(out: Path, running: SinkLoop, refuse: str = "nothing", epoch: int = 1) -> Any:
    task = PackingSinkTask()
    task.start({"out": str(out), "size": "3", "refuse": refuse})
    task.open(Assignments(running._lease.assignments, (), epoch))
    return task


def files(out: Path) -> dict[str, list[str]]:
    return {path.name: path.read_text().split() for path in out.glob("*.txt")}


def test_the_plan_is_committed_first_then_the_offset_of_what_is_written(
    reads: Any, tmp_path: Path
) -> None:
    running = loop(reads=5)
    reader = reads(raw(["a", "b"], 0), raw(["c", "d"], 2))
    running._read_until_over(packing(tmp_path, running), reader)
    assert commits(running) == [(0, "3"), (3, "")]
    assert files(tmp_path) == {"t-0-0.txt": ["a", "b", "c"]}
    assert running._outcome()["uncommitted"] == (("t", 0, 3, 4),)


def test_a_lease_whose_task_holds_records_back_is_not_dry(reads: Any, tmp_path: Path) -> None:
    running = loop(reads=3)
    running._read_until_over(packing(tmp_path, running), reads(raw(["a"], 0)))
    assert running._progress.dry_since is None
    assert not running._producer.commit.called  # type: ignore[attr-defined]  # a Mock


def test_a_plan_of_the_lease_before_is_carried_out(reads: Any, tmp_path: Path) -> None:
    running = loop(reads=4, metadata="2")
    running._read_until_over(packing(tmp_path, running), reads(raw(["a", "b", "c"], 0)))
    assert commits(running) == [(2, "")]
    assert files(tmp_path) == {"t-0-0.txt": ["a", "b"]}


def test_before_it_fails_because_of_a_record_nothing_is_held_back(
    reads: Any, tmp_path: Path
) -> None:
    running = loop(reads=5)
    reader = reads(raw(["a", "b", "c", "d"], 0), raw(["e", "bad"], 4))
    with pytest.raises(FatalError, match="All records before it are committed"):
        running._read_until_over(packing(tmp_path, running, "bad"), reader)
    assert files(tmp_path) == {"t-0-0.txt": ["a", "b", "c"], "t-0-3.txt": ["d", "e"]}
    assert commits(running)[-1] == (5, "")


def test_a_task_that_holds_back_even_then_is_told_of(reads: Any, tmp_path: Path) -> None:
    running = loop(reads=5)
    task = packing(tmp_path, running, "bad")
    task.flush = lambda: Flushed(offsets={})
    with pytest.raises(FatalError, match="are not committed yet, and would be skipped"):
        running._read_until_over(task, reads(raw(["a", "bad"], 0)))
    assert running._outcome()["uncommitted"] == (("t", 0, 0, 1),)


def test_whoever_was_replaced_stops_at_the_next_flush(reads: Any, tmp_path: Path) -> None:
    running = loop(reads=5)
    old = packing(tmp_path, running, epoch=7)
    packing(tmp_path, running, epoch=8)
    with pytest.raises(TakenOver):
        running._read_until_over(old, reads(raw(["a", "b", "c"], 0)))
    assert not running._producer.commit.called  # type: ignore[attr-defined]  # a Mock
    assert not files(tmp_path)
