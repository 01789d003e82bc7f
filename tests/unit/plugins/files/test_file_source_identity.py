"""What becomes of a file while no task has it open."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.plugins.files.file_identity import TAIL, FileIdentity
from penstock.plugins.files.file_source import FileStreamSourceConnector
from penstock.plugins.files.file_source_task import FileStreamSourceTask
from penstock.sdk.errors import OffsetError
from penstock.sdk.offsets import OffsetReader
from source_batches import polled

Offset = dict[str, Any]
TASKS: list[FileStreamSourceTask] = []


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "in.txt"


@pytest.fixture(autouse=True)
def no_file_stays_open() -> Iterator[None]:
    yield
    while TASKS:
        TASKS.pop().stop()


def turn(file: Path, offset: Offset | None = None) -> tuple[list[str], Offset]:
    """The lines that a task finds from ``offset`` on, and the offset it leaves."""
    partition = {"filename": str(file)}
    task = FileStreamSourceTask()
    TASKS.append(task)
    task.start({"file": str(file), "topic": "t"}, standing(file, offset))
    found: list[str] = []
    left = dict(offset or {})
    while (batch := polled(task)) is not None:
        found += batch.records.column("value").to_pylist()
        [(at, committed)] = batch.offsets
        assert at == partition
        left = dict(committed or {})
    task.stop()
    return found, left


def standing(file: Path, offset: Offset | None) -> OffsetReader:
    return OffsetReader([] if offset is None else [({"filename": str(file)}, offset)])


def looks(file: Path, offset: Offset) -> bool | None:
    connector = FileStreamSourceConnector()
    connector.start({"file": str(file), "topic": "t"})
    return connector.look(standing(file, offset))


class TestRotation:
    def test_a_longer_new_file_is_read_from_its_start_after_the_rest_of_the_old_one(
        self, file: Path
    ) -> None:
        file.write_text("one\n")
        _, offset = turn(file)
        old = file.rename(file.with_suffix(".1"))
        with old.open("a") as out:
            out.write("two\nunfinished")
        file.write_text("".join(f"new {number}\n" for number in range(100)))
        assert looks(file, offset)
        lines, offset = turn(file, offset)
        assert lines == ["two", "unfinished", *(f"new {number}" for number in range(100))]
        assert turn(file, offset) == ([], offset)
        assert not looks(file, offset)

    def test_even_if_it_begins_with_the_same_lines(self, file: Path) -> None:
        file.write_text("one\ntwo\n")
        _, offset = turn(file)
        file.rename(file.with_suffix(".1"))
        file.write_text("one\ntwo\nthree\n")
        assert turn(file, offset)[0] == ["one", "two", "three"]

    def test_the_old_one_may_be_drained_in_several_turns(self, file: Path) -> None:
        file.write_text("one\n")
        _, offset = turn(file)
        old = file.rename(file.with_suffix(".1"))
        with old.open("a") as out:
            out.write("two\n")
        file.touch()  # the writer has not changed over yet
        task = FileStreamSourceTask()
        TASKS.append(task)
        task.start({"file": str(file), "topic": "t"}, standing(file, offset))
        batch = polled(task)
        assert batch is not None
        [(_, committed)] = batch.offsets
        task.stop()
        with old.open("a") as out:
            out.write("three\n")
        file.write_text("new\n")
        assert turn(file, dict(committed or {}))[0] == ["three", "new"]

    def test_where_the_old_one_is_gone_that_is_told(
        self, file: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        file.write_text("one\n")
        _, offset = turn(file)
        other = file.with_suffix(".new")  # made before, else it might get the same inode
        other.write_text("first\nsecond\n")
        other.replace(file)
        assert looks(file, offset)
        assert turn(file, offset)[0] == ["first", "second"]
        [record] = caplog.records
        assert record.levelname == "WARNING"
        assert f"{file} was truncated, replaced or rewritten" in record.message
        assert "up to byte 4" in record.message

    def test_a_new_file_without_a_line_is_a_new_start(self, file: Path) -> None:
        file.write_text("one\n")
        _, offset = turn(file)
        file.unlink()
        file.with_suffix(".x").touch()
        file.write_text("unfinished")
        assert turn(file, offset) == ([], {"position": 0})


class TestTruncation:
    """As by ``copytruncate``: the file stays the same."""

    def test_a_shorter_file_is_read_from_its_start(self, file: Path) -> None:
        file.write_text("one\ntwo\n")
        _, offset = turn(file)
        os.truncate(file, 0)
        assert looks(file, offset)
        assert turn(file, offset) == ([], {"position": 0})
        with file.open("a") as out:
            out.write("new\n")
        assert turn(file, offset)[0] == ["new"]

    def test_one_that_has_grown_beyond_what_was_read_too(
        self, file: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        file.write_text("one\ntwo\n")
        _, offset = turn(file)
        os.truncate(file, 0)
        with file.open("a") as out:
            out.write("three\nfour\nfive\n")
        assert turn(file, offset)[0] == ["three", "four", "five"]
        assert [record.levelname for record in caplog.records] == ["WARNING"]

    def test_while_a_task_reads_it_that_is_no_cause_for_a_warning(
        self, file: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        file.write_text("one\ntwo\n")
        task = FileStreamSourceTask()
        TASKS.append(task)
        task.start({"file": str(file), "topic": "t"}, OffsetReader())
        assert task.poll()
        assert task.poll() is None
        os.truncate(file, 0)
        assert task.poll()
        assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


class TestOffsets:
    def test_an_untouched_file_is_gone_on_with(self, file: Path) -> None:
        file.write_text("x" * 3 * TAIL + "\n")
        _, offset = turn(file)
        with file.open("a") as out:
            out.write("more\n")
        assert turn(file, offset)[0] == ["more"]

    @pytest.mark.parametrize("identity", [None, "", 5, "what", "1:2:3", "1:2:xxxxxxxx"])
    def test_a_position_alone_is_enough(self, file: Path, identity: Any) -> None:
        """As Kafka Connect writes it, or a user."""
        file.write_text("one\ntwo\n")
        beside = {} if identity is None else {"identity": identity}
        assert turn(file, {"position": 4, **beside})[0] == ["two"]

    def test_a_position_that_a_user_has_moved_beside_its_identity(self, file: Path) -> None:
        file.write_text("one\ntwo\n")
        _, offset = turn(file)
        assert turn(file, {**offset, "position": 4})[0] == ["two"]

    def test_a_position_beyond_the_end_that_nobody_has_read_up_to(self, file: Path) -> None:
        file.write_text("one\n")
        with pytest.raises(OffsetError, match=f"{file} has 4 bytes, but its offset is position 9"):
            turn(file, {"position": 9})

    def test_the_identity_is_short_and_the_start_has_none(self, file: Path) -> None:
        file.write_text("one\n")
        _, offset = turn(file)
        known = FileIdentity.parse(offset["identity"])
        assert known is not None
        assert (known.inode, known.position) == (file.stat().st_ino, 4)
        assert known.text() == offset["identity"]
        assert len(known.text()) < 60
