"""The contract kit fails where a sink is wrong: defects are planted for each scenario."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pytest

from penstock.sdk import (
    Assignments,
    ConfigDef,
    ConfigKey,
    Flushed,
    Guarantee,
    RecordError,
    SinkConnector,
    SinkTask,
)
from penstock.sdk.testing import SinkContract, SinkUnderTest

CONFIG = ConfigDef(ConfigKey("file"), ConfigKey("defect", default=""))


class LineSinkTask(SinkTask):
    """Appends lines, to a file for each partition, with a defect on request.

    The text of a partition is how long its file is; what lies behind that is cut off.
    """

    memory: ClassVar[dict[Path, int]] = {}
    """The offset after the last line of each file."""

    def start(self, config: Mapping[str, str]) -> None:
        self.base, self.defect = config["file"], config["defect"]
        self.number = config["task"]
        self.buffers: dict[int, list[str]] = {}
        self.late: dict[int, list[str]] = {}

    def file(self, partition: int) -> Path:
        name = self.number if self.defect == "file by task" else partition
        return Path(f"{self.base}-{name}")

    def open(self, assignments: Assignments) -> None:
        for each in assignments:
            self.buffers[each.partition] = []
            file = self.file(each.partition)
            file.touch()
            self.expected = each.offset
            if each.metadata and self.defect != "never cuts":
                with file.open("r+b") as opened:
                    opened.truncate(int(each.metadata))

    def put(self, batch: pa.RecordBatch) -> None:
        partition, first = (batch.column(name)[0].as_py() for name in ("partition", "offset"))
        values = batch.column("value").to_pylist()
        self.refuse(values, partition)
        values = [value for value in values if value.isdigit()]
        if self.defect in ("forgets offsets", "waits to be asked"):
            # Kept beside the target, so that offsets that a user sets make no difference.
            known = self.memory.get(self.file(partition), 0)
            values = values[max(0, known - first) :]
        if self.defect == "fills gaps" and first > self.memory.get(self.file(partition), 0):
            values = ["0", *values]
        self.memory[self.file(partition)] = batch.column("offset")[-1].as_py() + 1
        lines = [f"{value}\n" for value in values]
        self.buffers[partition] += lines[:-1] if self.defect == "drops the last" else lines

    def refuse(self, values: list[str], partition: int) -> None:
        bad = next((row for row, value in enumerate(values) if not value.isdigit()), None)
        if bad is None or self.defect == "silent":
            return
        if self.defect == "half written":
            self.buffers[partition] += [f"{value}\n" for value in values[:bad]]
        if self.defect == "foreign error":
            raise ValueError("no number")
        raise RecordError("no number", row=0 if self.defect == "wrong row" else bad)

    def flush(self) -> Flushed:
        return Flushed({("numbers", p): self.written(p, rows) for p, rows in self.buffers.items()})

    def written(self, partition: int, rows: list[str]) -> str:
        """How long its file then is."""
        file, now = self.file(partition), list(rows)
        rows.clear()
        if self.defect == "one flush late":
            now, self.late[partition] = self.late.get(partition, []), now
        if self.defect != "never flushes":
            with file.open("a") as opened:
                opened.writelines(now)
        return str(file.stat().st_size)

    def stop(self) -> None:
        if hasattr(self, "buffers"):
            self.buffers.clear()


class LineSink(SinkConnector):
    """As many tasks as are allowed."""

    config_def: ClassVar[ConfigDef] = CONFIG
    task_class: ClassVar[type[SinkTask]] = LineSinkTask

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [
            {**each, "task": str(number)}
            for number, each in enumerate(super().task_configs(max_tasks))
        ]

    def alter_offsets(self, config: Any, offsets: Any) -> bool:
        if offsets and config["defect"] == "waits to be asked":
            LineSinkTask.memory.clear()
        return True


class Target(SinkUnderTest):
    """Files, and a defect."""

    connector: ClassVar[type[SinkConnector]] = LineSink
    partitions: ClassVar[int] = 2

    def __init__(self, file: Path, defect: str = "") -> None:
        self.path, self.defect = file, defect

    def config(self) -> Mapping[str, str]:
        return {"file": str(self.path), "defect": self.defect}

    def value(self, number: int) -> str:
        return str(number)

    def bad_value(self) -> str:
        return "no number"

    def written(self) -> list[int]:
        files = sorted(self.path.parent.glob(f"{self.path.name}-*"))
        return [int(line) for file in files for line in file.read_text().splitlines()]


class TestWithoutADefect(SinkContract):
    @pytest.fixture
    def sink(self, tmp_path: Path) -> SinkUnderTest:
        return Target(tmp_path / "out")


FOUND_BY: dict[str, list[tuple[str, dict[str, str]]]] = {
    "test_what_is_flushed_is_in_the_target": [("drops the last", {}), ("never flushes", {})],
    "test_a_lease_without_records": [("never flushes", {})],
    "test_restart_in_the_middle": [("drops the last", {})],
    "test_bad_record_in_the_middle": [
        (defect, {"tolerance": tolerance})
        for defect in ("silent", "wrong row", "half written", "foreign error", "drops the last")
        for tolerance in ("none", "all")
    ],
    "test_stop_while_busy": [("one flush late", {}), ("drops the last", {})],
    "test_offsets_altered": [
        ("forgets offsets", {"change": "back"}),
        ("forgets offsets", {"change": "reset"}),
        ("waits to be asked", {"change": "moved from outside"}),
        ("fills gaps", {"change": "forward"}),
    ],
    "test_tasks_changed": [("file by task", {}), ("never cuts", {})],
    "test_exactly_once_under_kill": [("never cuts", {"moment": "flush"})],
}


def test_every_scenario_has_a_planted_defect() -> None:
    assert FOUND_BY.keys() == {name for name in dir(SinkContract) if name.startswith("test_")}


@pytest.mark.parametrize(
    ("scenario", "defect", "more"),
    [(name, *each) for name, found in FOUND_BY.items() for each in found],
)
def test_a_defect_is_found(
    scenario: str, defect: str, more: dict[str, str], tmp_path: Path
) -> None:
    with pytest.raises((AssertionError, ValueError, pytest.fail.Exception)):
        getattr(SinkContract(), scenario)(sink=Target(tmp_path / "out", defect), **more)


def test_what_depends_on_being_asked_is_right_when_it_is(tmp_path: Path) -> None:
    for change in ("back", "reset"):
        SinkContract().test_offsets_altered(Target(tmp_path / change, "waits to be asked"), change)


def test_a_task_that_cannot_be_stopped_before_it_starts_is_found(tmp_path: Path) -> None:
    class Careless(LineSinkTask):
        def stop(self) -> None:
            self.buffers.clear()

    class CarelessSink(LineSink):
        task_class: ClassVar[type[SinkTask]] = Careless

    class CarelessTarget(Target):
        connector: ClassVar[type[SinkConnector]] = CarelessSink

    with pytest.raises(AttributeError):
        SinkContract().test_stop_while_busy(CarelessTarget(tmp_path / "out"))


class Repeating(LineSink):
    """Declares that it may repeat."""

    guarantee: ClassVar[Guarantee | None] = Guarantee.AT_LEAST_ONCE


class AtLeastOnce(Target):
    connector: ClassVar[type[SinkConnector]] = Repeating


@pytest.mark.parametrize("scenario", ["test_tasks_changed", "test_exactly_once_under_kill"])
def test_at_least_once_may_repeat_but_not_lose(scenario: str, tmp_path: Path) -> None:
    more = {"moment": "flush"} if scenario == "test_exactly_once_under_kill" else {}
    run = getattr(SinkContract(), scenario)
    repeating = AtLeastOnce(tmp_path / "repeats", "never cuts")
    run(repeating, **more)
    assert len(repeating.written()) > 200, "it did repeat"
    with pytest.raises(AssertionError, match="lost"):
        run(AtLeastOnce(tmp_path / "loses", "drops the last"), **more)


class Fewer(Target):
    """Exactly once only as long as a task has one partition."""

    partitions: ClassVar[int] = 1


class OneTask(LineSink):
    """Never has more than one task."""

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return super().task_configs(1)


def test_a_guarantee_holds_for_as_many_partitions_as_are_said(tmp_path: Path) -> None:
    """And for as many tasks as there are."""
    kit = SinkContract()
    with pytest.raises(AssertionError, match="may do this declares"):
        kit.test_tasks_changed(Fewer(tmp_path / "each", "never cuts"))

    class Crowded(Fewer):
        connector: ClassVar[type[SinkConnector]] = OneTask

    kit.test_tasks_changed(Crowded(tmp_path / "crowded", "never cuts"))


def test_what_is_replaced_need_not_be_there_twice(tmp_path: Path) -> None:
    class Replacing(Target):
        replaces: ClassVar[bool] = True

    kit = SinkContract()
    kit.test_offsets_altered(Replacing(tmp_path / "replaced", "forgets offsets"), "back")
    with pytest.raises(AssertionError, match="0 is there 0 times instead of 1"):
        kit.test_offsets_altered(Replacing(tmp_path / "lost", "never flushes"), "back")


def test_a_sink_whose_records_are_never_bad_skips_the_scenario(tmp_path: Path) -> None:
    class Hardy(Target):
        def bad_value(self) -> str:
            raise NotImplementedError

    with pytest.raises(pytest.skip.Exception):
        SinkContract().test_bad_record_in_the_middle(Hardy(tmp_path / "out"), "none")
