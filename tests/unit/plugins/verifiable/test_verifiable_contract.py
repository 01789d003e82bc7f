"""The contract kit, with sequence numbers: none is missing, whatever ends the tasks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from penstock.plugins.verifiable import source as verifiable_source
from penstock.plugins.verifiable.sink import VerifiableSinkConnector
from penstock.plugins.verifiable.source import VerifiableSourceConnector
from penstock.sdk import Schema, SinkConnector, SourceConnector
from penstock.sdk.testing import PlayedSource, SinkContract, SinkUnderTest, SourceUnderTest

A_TASK = 1_000_000


class Endless(SourceUnderTest):
    """Each task counts without an end, so that the kit's scenarios of a dry source do not apply."""

    connector: ClassVar[type[SourceConnector]] = VerifiableSourceConnector

    def __init__(self, report: Path) -> None:
        self._report = report

    def config(self) -> Mapping[str, str]:
        complete = {"complete.record.data": "true", "report.file": str(self._report)}
        return {"name": "v", "topic": "numbers", **complete}

    def write(self, numbers: Sequence[int]) -> None:
        raise NotImplementedError

    def number(self, value: Any) -> int:
        return int(value["task"]) * A_TASK + int(value["seqno"])


def test_no_number_is_missing_or_there_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed, restarted, with more tasks and fewer, and set back."""
    monkeypatch.setattr(verifiable_source, "MOST", 7)
    worker = PlayedSource(Endless(tmp_path / "report"))
    for tasks, polls, killed in [(2, 1, False), (2, 3, True), (3, 2, True), (1, 1, False)] * 3:
        worker.tasks = tasks
        worker.turn(polls=polls, killed=killed)
    for task, count in ((0, 7 * 15), (1, 7 * 12), (2, 7 * 3)):
        mine = [number % A_TASK for number in worker.delivered if number // A_TASK == task]
        assert mine == list(range(count))
    report = [json.loads(line) for line in (tmp_path / "report").read_text().splitlines()]
    committed = [line["task"] * A_TASK + line["seqno"] for line in report if line.get("committed")]
    assert committed == worker.delivered, "told of just what was committed"

    ((partition, offset),) = [each for each in worker.reader() if each[0]["id"] == 1]
    altered = (partition, {**offset, "seqno": 80})
    assert worker.source.connector().alter_offsets(dict(worker.source.config()), [altered])
    worker.offsets = {k: altered if v[0] == partition else v for k, v in worker.offsets.items()}
    worker.delivered, worker.tasks = [], 2
    worker.turn(polls=1)
    assert [n % A_TASK for n in worker.delivered if n // A_TASK == 1] == list(range(81, 88))


class Told(SinkUnderTest):
    """What was told as flushed."""

    connector: ClassVar[type[SinkConnector]] = VerifiableSinkConnector
    partitions: ClassVar[int] = 2
    value_schema: ClassVar[Schema | None] = Schema.int64()

    def __init__(self, report: Path) -> None:
        self._report = report

    def config(self) -> Mapping[str, str]:
        return {"name": "v", "report.file": str(self._report)}

    def value(self, number: int) -> Any:
        return number

    def written(self) -> list[int]:
        if not self._report.exists():
            return []
        lines = [json.loads(line) for line in self._report.read_text().splitlines()]
        return [line["seqno"] for line in lines if line.get("flushed")]


class TestReports(SinkContract):
    @pytest.fixture
    def sink(self, tmp_path: Path) -> SinkUnderTest:
        return Told(tmp_path / "report")
