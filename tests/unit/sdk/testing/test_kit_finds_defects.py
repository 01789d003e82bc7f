"""The contract kit fails where a connector is wrong: a defect is planted for each scenario."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from penstock.sdk import (
    ConfigDef,
    ConfigKey,
    Guarantee,
    OffsetReader,
    RecordError,
    SourceConnector,
    SourceRecord,
    SourceTask,
)
from penstock.sdk.testing import SourceContract, SourceUnderTest

CONFIG = ConfigDef(ConfigKey("file"), ConfigKey("defect", default=""))
LINES = {"of": "file"}
MANY = 10


def lines_of(config: Mapping[str, str]) -> list[str]:
    file = Path(config["file"])
    return file.read_text().splitlines() if file.exists() else []


def position(offsets: OffsetReader) -> int:
    return int((offsets.get(LINES) or {"next": 0})["next"])


class Task(SourceTask):
    """Lines of a file, ten a poll, with a defect on request."""

    memory: ClassVar[dict[str, int]] = {}

    def start(self, config: Mapping[str, str], offsets: OffsetReader) -> None:
        self.config, self.defect = config, config["defect"]
        self.next = 0 if self.defect == "forgets" else position(offsets)
        if self.defect == "remembers":
            self.next = self.memory.get(config["file"], 0)
        self.ended = False

    def poll(self) -> list[SourceRecord] | None:
        lines = lines_of(self.config) or (["999"] if self.defect == "invents" else [])
        chosen = [] if self.ended else lines[self.next : self.next + MANY]
        self.ended = self.defect == "ends" and not chosen
        numbered = enumerate(chosen, self.next + 1)
        self.next += len(chosen)
        self.memory[self.config["file"]] = self.next
        records = [each for n, line in numbered if (each := self.record(n, line)) is not None]
        if self.defect == "turns round":
            records.reverse()
        return records or None

    def record(self, number: int, line: str) -> SourceRecord | None:
        if not line.isdigit():
            if self.defect == "silent":
                return None
            raise self.error(number, line)
        ahead = MANY if self.defect == "ahead" else 0
        return SourceRecord(LINES, {"next": number + ahead}, "t", int(line))

    def error(self, number: int, line: str) -> Exception:
        if self.defect == "foreign error":
            return ValueError("no number")
        if self.defect == "stuck":
            self.next = number - 1
            return RecordError("no number")
        self.next = number + 1 if self.defect == "takes one more" else number
        after = {"next": self.next}
        return RecordError("no number", source_partition=LINES, source_offset=after)


class Connector(SourceConnector):
    """Reads with one task, unless its defect is that all read everything."""

    config_def: ClassVar[ConfigDef] = CONFIG
    task_class: ClassVar[type[SourceTask]] = Task

    def start(self, config: Mapping[str, str]) -> None:
        self.config = dict(config)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [self.config] * (max_tasks if self.config["defect"] == "all read all" else 1)

    def look(self, offsets: OffsetReader) -> bool:
        defect = self.config["defect"]
        if defect in ("blind", "restless"):
            return defect == "restless"
        return position(offsets) < len(lines_of(self.config))

    def alter_offsets(self, config: Any, offsets: Any) -> bool:
        return True


class Source(SourceUnderTest):
    """A file, and a defect."""

    connector = Connector

    def __init__(self, file: Path, defect: str) -> None:
        self.file, self.defect = file, defect

    def config(self) -> Mapping[str, str]:
        return {"file": str(self.file), "defect": self.defect}

    def write(self, numbers: Sequence[int]) -> None:
        self._append("".join(f"{number}\n" for number in numbers))

    def spoil(self) -> None:
        self._append("no number\n")

    def _append(self, text: str) -> None:
        with self.file.open("a") as file:
            file.write(text)

    def number(self, value: Any) -> int:
        return int(value)


class TestWithoutADefect(SourceContract):
    @pytest.fixture
    def source(self, tmp_path: Path) -> SourceUnderTest:
        return Source(tmp_path / "in", "")


class Impatient(SourceContract):
    """Waits no longer than it must for what does not come."""

    __test__ = False
    patience: ClassVar[float] = 0.1


FOUND_BY = {
    "test_an_empty_source_has_no_records": ["invents"],
    "test_everything_comes_in_order": ["turns round"],
    "test_a_look_sees_what_is_new_and_only_that": ["blind", "restless"],
    "test_restart_in_the_middle": ["forgets", "ahead"],
    "test_append_after_restart": ["forgets"],
    "test_append_while_it_runs": ["ends"],
    "test_bad_record_in_the_middle": ["silent", "foreign error", "forgets"],
    "test_bad_record_passed_over": ["silent", "stuck", "takes one more"],
    "test_stop_while_busy": ["ahead", "forgets"],
    "test_offsets_altered": ["remembers", "ahead"],
    "test_tasks_changed": ["forgets", "ahead"],
    "test_exactly_once_under_kill": ["forgets", "ahead", "remembers"],
}


def test_every_scenario_has_a_planted_defect() -> None:
    assert FOUND_BY.keys() == {name for name in dir(SourceContract) if name.startswith("test_")}


@pytest.mark.parametrize(
    ("scenario", "defect"), [(name, each) for name, found in FOUND_BY.items() for each in found]
)
def test_a_defect_is_found(scenario: str, defect: str, tmp_path: Path) -> None:
    more = {"polls": 2} if scenario == "test_exactly_once_under_kill" else {}
    run = getattr(Impatient(), scenario)
    with pytest.raises((AssertionError, ValueError, pytest.fail.Exception)):
        run(source=Source(tmp_path / "in", defect), **more)


def test_at_least_once_may_repeat_but_not_lose(tmp_path: Path) -> None:
    class Repeating(Connector):
        guarantee: ClassVar[Guarantee | None] = Guarantee.AT_LEAST_ONCE

    class AtLeastOnce(Source):
        connector = Repeating

    kit = Impatient()
    kit.test_exactly_once_under_kill(AtLeastOnce(tmp_path / "repeats", "forgets"), 2)
    with pytest.raises(AssertionError, match="lost"):
        kit.test_exactly_once_under_kill(AtLeastOnce(tmp_path / "loses", "ahead"), 2)
