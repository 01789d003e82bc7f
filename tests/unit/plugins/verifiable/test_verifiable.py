"""The verifiable source and sink: sequence numbers without gaps, told of and counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from penstock.plugins.verifiable import source
from penstock.plugins.verifiable.sink import VerifiableSinkTask
from penstock.plugins.verifiable.source import VerifiableSourceConnector, VerifiableSourceTask
from penstock.sdk import OffsetError, OffsetReader, SourceBatch, record_batch
from penstock.sdk.testing.values import values_in


class Stopwatch:
    """A clock that tests move."""

    seconds = 0.0

    def monotonic(self) -> float:
        return self.seconds

    def time_ns(self) -> int:
        return 7_000_000


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Stopwatch:
    clock = Stopwatch()
    monkeypatch.setattr(source, "time", clock)
    return clock


def begun(report: Path, offsets: OffsetReader | None = None, **keys: str) -> VerifiableSourceTask:
    connector = VerifiableSourceConnector()
    dotted = {key.replace("_", "."): text for key, text in keys.items()}
    connector.start({"name": "v", "topic": "t", "report.file": str(report), **dotted})
    task = VerifiableSourceTask()
    task.start(connector.task_configs(3)[2], offsets or OffsetReader())
    return task


def told(report: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in report.read_text().splitlines()]


def polled(task: VerifiableSourceTask) -> SourceBatch:
    batch = task.poll()
    assert batch is not None
    return batch


def test_a_task_counts_on_from_what_is_committed(clock: Stopwatch, tmp_path: Path) -> None:
    report = tmp_path / "report"
    task = begun(report, OffsetReader([({"id": 2}, {"seqno": 41})]), throughput="10")
    assert task.poll() is None
    clock.seconds = 0.25
    batch = polled(task)
    assert values_in(batch.records) == [42, 43]
    assert batch.records.column("key").to_pylist() == [2, 2]
    assert batch.offsets == [({"id": 2}, {"seqno": 43})]
    task.committed(batch.offsets)
    same = {"name": "v", "task": 2, "topic": "t"}
    lines = [{k: v for k, v in line.items() if k != "time_ms"} for line in told(report)]
    assert lines == [
        {**same, "seqno": 42},
        {**same, "seqno": 43},
        {**same, "seqno": 42, "committed": True},
        {**same, "seqno": 43, "committed": True},
    ]


def test_without_a_limit_batches_are_full(tmp_path: Path) -> None:
    task = begun(tmp_path / "report")
    assert values_in(polled(task).records) + values_in(polled(task).records) == list(range(10_000))


def test_complete_record_data(clock: Stopwatch, tmp_path: Path) -> None:
    task = begun(tmp_path / "report", throughput="1", complete_record_data="true")
    clock.seconds = 1.5
    [value] = values_in(polled(task).records)
    assert value == {"name": "v", "task": 2, "topic": "t", "time_ms": 7, "seqno": 0}


@pytest.mark.parametrize("offset", [{"seqno": -1}, {"seqno": "7"}, {}])
def test_offsets_that_are_no_numbers(offset: dict[str, Any]) -> None:
    with pytest.raises(OffsetError, match="seqno must be a number"):
        VerifiableSourceConnector().alter_offsets({}, [({"id": 0}, offset)])
    assert VerifiableSourceConnector().alter_offsets({}, [({"id": 0}, {"seqno": 7})])


def test_a_sink_tells_what_it_is_given_and_what_is_flushed(tmp_path: Path) -> None:
    report = tmp_path / "report"
    task = VerifiableSinkTask()
    task.start({"name": "v", "id": "1", "report.file": str(report)})
    task.put(record_batch("t", pa.array([5, 6]), offset=pa.array([9, 10], pa.int64())))
    assert [(line["seqno"], line["offset"]) for line in told(report)] == [(5, 9), (6, 10)]
    assert task.flush() == ""
    task.flush()
    assert [line["seqno"] for line in told(report) if line.get("flushed")] == [5, 6]
    assert len(told(report)) == 4


def test_without_a_file_it_tells_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    task = VerifiableSinkTask()
    task.start({"name": "v", "id": "1"})
    task.put(record_batch("t", pa.array([5]), offset=pa.array([9])))
    assert json.loads(capsys.readouterr().out)["seqno"] == 5
