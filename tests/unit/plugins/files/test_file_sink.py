"""The file sink, on real files."""

from __future__ import annotations

import datetime as dt
import errno
import json
import os
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.plugins.files.file_sink import FileStreamSinkConnector
from penstock.plugins.files.file_sink_task import FileStreamSinkTask
from penstock.plugins.files.file_source_task import FileStreamSourceTask
from penstock.plugins.files.line_text import as_lines
from penstock.sdk.batches import record_batch
from penstock.sdk.errors import ConfigError, FatalError, RetriableError, UserError
from penstock.sdk.offsets import OffsetReader
from penstock.sdk.tasks import Assignment, Assignments, CommittedOffset
from source_batches import polled


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "out.txt"


TASKS: list[FileStreamSinkTask] = []


@pytest.fixture(autouse=True)
def no_file_stays_open() -> Iterator[None]:
    yield
    while TASKS:
        TASKS.pop().stop()


def batch(*values: str) -> pa.RecordBatch:
    return record_batch("t", pa.array(values, pa.string()))


def lease(file: Path, *metadata: str, **config: str) -> FileStreamSinkTask:
    """A task as the engine makes it, with an input partition for each metadata."""
    task = FileStreamSinkTask()
    TASKS.append(task)
    task.start({"file": str(file), **config})
    task.open(Assignments(Assignment("t", p, 0, text) for p, text in enumerate(metadata)))
    return task


def committed(file: Path, *values: str, metadata: str = "") -> str:
    task = lease(file, metadata)
    task.put(batch(*values))
    text = task.flush()
    task.stop()
    return text


def uncommitted(file: Path, metadata: str, *values: str) -> None:
    task = lease(file, metadata)
    task.put(batch(*values))
    task.stop()


class TestExactlyOnce:
    def test_what_a_lease_wrote_without_committing_is_removed(self, file: Path) -> None:
        metadata = committed(file, "one")
        uncommitted(file, metadata, "two", "three")
        assert file.read_text() == "one\ntwo\nthree\n"
        lease(file, metadata)
        assert file.read_text() == "one\n"

    def test_what_is_flushed_but_not_committed_too(self, file: Path) -> None:
        metadata = committed(file, "one")
        committed(file, "two", metadata=metadata)
        assert committed(file, "two", metadata=metadata)
        assert file.read_text() == "one\ntwo\n"

    def test_leases_in_a_row_lose_nothing(self, file: Path) -> None:
        metadata = ""
        for value in "abc":
            metadata = committed(file, value, metadata=metadata)
        assert file.read_text() == "a\nb\nc\n"

    def test_metadata_is_short_json_with_length_and_inode(self, file: Path) -> None:
        found = json.loads(committed(file, "one"))
        assert found["length"] == 4
        assert found["inode"] == file.stat().st_ino

    @pytest.mark.parametrize(
        "metadata",
        [
            "",
            "x",
            "{}",
            "[]",
            "3",
            "null",
            '{"length":-1,"inode":INODE}',
            '{"length":0}',
            '{"length":true,"inode":INODE}',
            '{"length":0.0,"inode":INODE}',
            '{"length":0,"inode":INODE,"tail":"x"}',
            '{"length":0,"inode":1}',
            '{"length":1000,"inode":INODE}',
            '{"length":"0","inode":INODE}',
        ],
    )
    def test_metadata_of_another_origin_removes_nothing(self, file: Path, metadata: str) -> None:
        file.write_text("mine\n")
        lease(file, metadata.replace("INODE", str(file.stat().st_ino)))
        assert file.read_text() == "mine\n"

    def test_the_checksum_may_be_missing(self, file: Path) -> None:
        file.write_text("one\ntwo\n")
        lease(file, json.dumps({"length": 4, "inode": file.stat().st_ino}))
        assert file.read_text() == "one\n"

    def test_a_shorter_file_is_appended_to(self, file: Path) -> None:
        metadata = committed(file, "one", "two")
        os.truncate(file, 4)
        committed(file, "three", metadata=metadata)
        assert file.read_text() == "one\nthree\n"


class TestReplacedFile:
    def test_another_file_of_that_name_is_not_cut(self, file: Path) -> None:
        metadata = committed(file, "one")
        file.rename(file.with_suffix(".old"))
        file.write_text("somebody else's lines\n")
        committed(file, "two", metadata=metadata)
        assert file.read_text() == "somebody else's lines\ntwo\n"

    def test_not_even_if_it_got_the_same_inode(self, file: Path) -> None:
        metadata = committed(file, "one")
        file.write_text("somebody else's lines\n")
        assert json.loads(metadata)["inode"] == file.stat().st_ino
        committed(file, "two", metadata=metadata)
        assert file.read_text() == "somebody else's lines\ntwo\n"

    def test_a_deleted_file_is_made_again(self, file: Path) -> None:
        metadata = committed(file, "one")
        file.unlink()
        committed(file, "two", metadata=metadata)
        assert file.read_text() == "two\n"


class TestSeveralPartitions:
    def test_the_newest_commit_of_any_of_them_counts(self, file: Path) -> None:
        older = committed(file, "one")
        newer = committed(file, "two", metadata=older)
        uncommitted(file, newer, "three")
        lease(file, newer, older)
        assert file.read_text() == "one\ntwo\n"

    def test_an_altered_partition_does_not_count(self, file: Path) -> None:
        metadata = committed(file, "one")
        uncommitted(file, metadata, "two")
        lease(file, "", metadata)
        assert file.read_text() == "one\n"

    def test_without_any_metadata_nothing_is_removed(self, file: Path) -> None:
        committed(file, "one")
        lease(file, "", "")
        assert file.read_text() == "one\n"


class TestPartitionsThatAreNoLongerOurs:
    """``topics=a,b`` became ``topics=a``, or b was deleted: the last commit was b's."""

    def begin(self, file: Path, *, ours: str, theirs: str) -> None:
        task = FileStreamSinkTask()
        TASKS.append(task)
        task.start({"file": str(file)})
        committed = [CommittedOffset("a", 0, 1, ours), CommittedOffset("b", 0, 1, theirs)]
        task.open(Assignments([Assignment("a", 0, 1, ours)], committed))

    def test_their_committed_lines_stay(self, file: Path) -> None:
        ours = committed(file, "a")
        theirs = committed(file, "b", metadata=ours)
        uncommitted(file, theirs, "c")
        self.begin(file, ours=ours, theirs=theirs)
        assert file.read_text() == "a\nb\n"

    def test_what_kafka_connect_wrote_since_stays_as_well(self, file: Path) -> None:
        """It commits without metadata."""
        theirs = committed(file, "b")
        with file.open("a") as out:
            out.write("Kafka Connect's\n")
        self.begin(file, ours="", theirs=theirs)
        assert file.read_text() == "b\nKafka Connect's\n"

    def test_a_cut_is_told_with_what_is_gone(
        self, file: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        metadata = committed(file, "one")
        lease(file, metadata).stop()
        assert not caplog.records
        uncommitted(file, metadata, "two", "three")
        lease(file, metadata)
        [record] = caplog.records
        assert record.levelname == "WARNING"
        assert f"truncating {file} to the 4 bytes that it had" in record.message
        assert "10 bytes (2 lines) after that were never committed" in record.message


class TestSeveralTasks:
    def test_nothing_is_ever_removed(self, file: Path) -> None:
        metadata = committed(file, "one")
        uncommitted(file, metadata, "another task's")
        lease(file, metadata, **{"tasks.max": "2"})
        assert file.read_text() == "one\nanother task's\n"

    def test_one_task_said_aloud_is_one_task(self, file: Path) -> None:
        metadata = committed(file, "one")
        uncommitted(file, metadata, "two")
        lease(file, metadata, **{"tasks.max": "1"})
        assert file.read_text() == "one\n"

    def test_their_lines_do_not_overwrite_each_other(self, file: Path) -> None:
        tasks = [lease(file, "", **{"tasks.max": "2"}) for _ in range(2)]
        for number in range(3):
            for task in tasks:
                task.put(batch(f"line {number}"))
        assert sorted(file.read_text().split("\n")[:-1]) == [f"line {n // 2}" for n in range(6)]


class TestErrors:
    def test_a_missing_folder(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match=f"the folder {tmp_path}/no does not exist. Create it"):
            lease(tmp_path / "no" / "out.txt")

    def test_a_folder_in_place_of_a_file(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match="is not a regular file"):
            lease(tmp_path)

    def test_no_rights(self, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "open", raiser(errno.EACCES))
        with pytest.raises(UserError, match=f"Cannot write {file}: Permission denied. Let the"):
            lease(file)

    @pytest.mark.parametrize(
        ("number", "kind", "text"),
        [
            (errno.ENOSPC, UserError, "the disk is full. Free some space"),
            (errno.EDQUOT, UserError, "the disk is full"),
            (errno.EFBIG, UserError, "largest size"),
            (errno.EIO, RetriableError, "at the moment"),
        ],
    )
    def test_half_a_batch_leaves_nothing_behind(
        self,
        file: Path,
        monkeypatch: pytest.MonkeyPatch,
        number: int,
        kind: type[Exception],
        text: str,
    ) -> None:
        task = lease(file)
        task.put(batch("one"))
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", half_then(raiser(number)))
            with pytest.raises(kind, match=f"{file}.*{text}"):
                task.put(batch("two", "three"))
        assert file.read_text() == "one\n"
        task.put(batch("two", "three"))
        assert file.read_text() == "one\ntwo\nthree\n"

    def test_short_writes_are_completed(self, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        task = lease(file)
        monkeypatch.setattr(os, "write", half_then(os.write))
        task.put(batch("one", "two", "three"))
        assert file.read_text() == "one\ntwo\nthree\n"

    def test_a_failed_sync_is_not_tried_again(
        self, file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        task = lease(file)
        task.put(batch("one"))
        monkeypatch.setattr(os, "fsync", raiser(errno.EIO))
        with pytest.raises(FatalError, match=str(file)):
            task.flush()

    def test_a_disk_found_full_at_the_sync(
        self, file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        task = lease(file)
        monkeypatch.setattr(os, "fsync", raiser(errno.ENOSPC))
        with pytest.raises(UserError, match="the disk is full"):
            task.flush()

    def test_stop_after_a_failed_start(self, tmp_path: Path) -> None:
        task = FileStreamSinkTask()
        with pytest.raises(UserError):
            task.start({"file": str(tmp_path)})
        task.stop()


def raiser(number: int) -> Callable[..., Any]:
    def fail(*_: Any, **__: Any) -> Any:
        raise OSError(number, os.strerror(number))

    return fail


def half_then(write: Callable[..., int]) -> Callable[[int, memoryview], int]:
    """The first write does half of its work, the others are ``write``."""
    first = [os.write]

    def step(descriptor: int, data: memoryview) -> int:
        if first:
            return first.pop()(descriptor, data[: len(data) // 2])
        return write(descriptor, data)

    return step


def test_the_file_and_once_its_folder_are_synced(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = lease(file)
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_ino))
    task.flush(), task.flush()
    file_inode, folder_inode = file.stat().st_ino, file.parent.stat().st_ino
    assert synced == [file_inode, folder_inode, file_inode]


def test_an_empty_batch(file: Path) -> None:
    lease(file).put(batch())
    assert file.read_bytes() == b""


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (pa.array(["a", None, "", "é\r"]), "a\nnull\n\né\r\n"),
        (pa.array(["a", None], pa.large_string()), "a\nnull\n"),
        (pa.array(["a", None], pa.string_view()), "a\nnull\n"),
        (pa.array(["a", None, "a"]).dictionary_encode(), "a\nnull\na\n"),
        (pa.array(["x", "a", "b", "y"]).slice(1, 2), "a\nb\n"),
        (pa.array([1, None, -3], pa.int8()), "1\nnull\n-3\n"),
        (pa.array([True, None, False]), "true\nnull\nfalse\n"),
        (pa.array([1.0, None, 0.1, float("inf")]), "1.0\nnull\n0.1\nInfinity\n"),
        (pa.array([Decimal("1.50")], pa.decimal128(38, 2)), "1.50\n"),
        (pa.array([dt.date(2024, 2, 29)]), "2024-02-29\n"),
        (pa.nulls(2), "null\nnull\n"),
        (pa.array([{"a": 1, "b": "é"}, None]), '{"a":1,"b":"é"}\nnull\n'),
        (pa.array([[b"x", None]]), '["eA==",null]\n'),
        (pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int32())), '{"k":1}\n'),
        (pa.array([{"d": dt.date(2024, 2, 29)}]), '{"d":"2024-02-29"}\n'),
        (
            pa.array(['{"a":1}', None, '"t\\n\\"x"', "3", "null", '""'], pa.string()),
            "",
        ),
    ],
    ids=str,
)
def test_values_as_lines(values: pa.Array, text: str) -> None:
    if not text:
        values = pa.ExtensionArray.from_storage(pa.json_(), values)
        text = '{"a":1}\nnull\nt\n"x\n3\nnull\n\n'
    assert bytes(as_lines(values)).decode() == text


def test_bytes_are_written_as_they_are() -> None:
    assert bytes(as_lines(pa.array([b"\xff\x00", None]))) == b"\xff\x00\nnull\n"


@given(st.lists(st.text() | st.none()), st.integers(0, 3))
def test_any_texts(texts: list[str | None], skipped: int) -> None:
    lines = "".join("null\n" if t is None else f"{t}\n" for t in texts[skipped:])
    assert bytes(as_lines(pa.array(texts, pa.string()).slice(skipped))) == lines.encode()


class TestConnector:
    def test_as_many_equal_tasks_as_allowed(self, file: Path) -> None:
        connector = FileStreamSinkConnector()
        config = {"file": str(file), "topics": "t"}
        connector.start(config)
        assert connector.task_configs(3) == [config] * 3

    @pytest.mark.parametrize("config", [{}, {"file": ""}])
    def test_a_file_is_needed(self, config: dict[str, str]) -> None:
        [(key, message)] = FileStreamSinkConnector().validate(config)
        assert key == "file"
        assert "standard output" in message
        with pytest.raises(ConfigError):
            FileStreamSinkConnector().start(config)
        with pytest.raises(ConfigError):
            FileStreamSinkTask().start(config)

    def test_any_offset_may_be_set(self) -> None:
        assert FileStreamSinkConnector().alter_offsets({}, {}) is True


def test_source_to_sink_is_byte_identical(file: Path, tmp_path: Path) -> None:
    source = tmp_path / "in.txt"
    source.write_bytes(b"a\r\n\n\rb\n\xe2\x82\xac \x00\nnull\n")
    reader = FileStreamSourceTask()
    reader.start({"file": str(source), "topic": "t"}, OffsetReader())
    writer = lease(file)
    while (found := polled(reader)) is not None:
        writer.put(found.records)
    reader.stop()
    assert file.read_bytes() == source.read_bytes()
