"""The file source's task, on real files."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pytest

from penstock.plugins.files import file_source_task, followed_file, line_reader
from penstock.plugins.files.file_source_task import FileStreamSourceTask
from penstock.plugins.files.followed_file import FollowedFile
from penstock.sdk.batches import SourceBatch
from penstock.sdk.errors import ConfigError, RetriableError, UserError
from penstock.sdk.offsets import OffsetReader
from source_batches import polled


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "in.txt"


@pytest.fixture(autouse=True)
def no_file_stays_open() -> Iterator[None]:
    yield
    while Reader.made:
        Reader.made.pop().task.stop()


class Reader:
    """A task and what came out of it."""

    made: ClassVar[list[Reader]] = []

    def __init__(
        self, file: Path, position: int | None = None, batch_size: int | None = None
    ) -> None:
        self.task = FileStreamSourceTask()
        self.made.append(self)
        partition = {"filename": str(file)}
        offsets = [] if position is None else [(partition, {"position": position})]
        config = {"file": str(file), "topic": "t"}
        config |= {} if batch_size is None else {"batch.size": str(batch_size)}
        self.task.start(config, OffsetReader(offsets))
        self.partition = partition
        self.position = position
        self.sizes: list[int] = []

    @property
    def file(self) -> FollowedFile:
        """The file behind the task, after a poll."""
        return self.task._lines.rota.first._file

    def poll(self) -> list[str] | None:
        batch = polled(self.task)
        if batch is None:
            return None
        [(partition, offset)] = batch.offsets
        assert partition == self.partition
        assert offset is not None
        self.position = offset["position"]
        return [str(value) for value in batch.records.column("value").to_pylist()]

    def lines(self) -> list[str]:
        """All there is just now."""
        found: list[str] = []
        while (lines := self.poll()) is not None:
            self.sizes.append(len(lines))
            found += lines
        return found


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_source_task, "FIRST_BLOCK", 7)
    monkeypatch.setattr(line_reader, "BLOCK", 7)


def append(file: Path, data: bytes) -> None:
    with file.open("ab") as out:
        out.write(data)


def test_a_record_per_line_with_topic_and_string_value(file: Path) -> None:
    file.write_bytes(b"one\ntwo\n")
    task = Reader(file).task
    batch = task.poll()
    assert isinstance(batch, SourceBatch)
    batch.records.validate(full=True)
    assert batch.records.column("topic").to_pylist() == ["t", "t"]
    assert batch.records.column("value").to_pylist() == ["one", "two"]
    assert batch.records.column("key").null_count == 2
    assert batch.records.schema.field("value").equals(pa.field("value", pa.string(), False))
    [(partition, offset)] = batch.offsets
    assert partition == {"filename": str(file)}
    assert offset is not None
    assert offset.keys() == {"position", "identity"}
    assert offset["position"] == 8


def test_a_committed_position_is_gone_on_from(file: Path) -> None:
    file.write_bytes(b"one\ntwo\nthree\n")
    reader = Reader(file, 4)
    assert reader.lines() == ["two", "three"]
    assert reader.position == 14


def test_a_missing_file_is_waited_for(file: Path) -> None:
    reader = Reader(file)
    assert reader.poll() is None
    file.write_bytes(b"here\n")
    assert reader.lines() == ["here"]


def test_only_newlines_end_a_line_and_all_else_is_kept(file: Path) -> None:
    data = b"crlf\r\nlone\rcr\n\n\r\n \x00tab\t\xe2\x80\xa8\n"
    file.write_bytes(data)
    lines = Reader(file).lines()
    assert lines == ["crlf\r", "lone\rcr", "", "\r", " \x00tab\t\u2028"]
    assert "".join(line + "\n" for line in lines).encode() == data


def test_bytes_that_are_no_utf8_are_replaced_and_still_counted(file: Path) -> None:
    file.write_bytes(b"good\nb\xffd \xe2\x82\n\xc3\xa9\n")
    reader = Reader(file)
    assert reader.lines() == ["good", "b\ufffdd \ufffd", "é"]
    assert reader.position == 15


def test_a_partial_line_comes_with_its_newline(file: Path) -> None:
    file.write_bytes(b"one\ntw")
    reader = Reader(file)
    assert reader.lines() == ["one"]
    assert reader.position == 4
    append(file, b"o\nth")
    assert reader.lines() == ["two"]
    assert reader.position == 8


@pytest.mark.usefixtures("small_blocks")
def test_lines_over_many_blocks(file: Path) -> None:
    lines = ["x" * n for n in (0, 5, 6, 7, 8, 30, 0, 14)]
    file.write_bytes("".join(line + "\n" for line in lines).encode())
    assert Reader(file).lines() == lines


def test_a_line_of_20_mb_appended_in_pieces(file: Path) -> None:
    reader = Reader(file)
    piece = os.urandom(10_000).hex().encode()
    for _ in range(1000):
        append(file, piece)
        assert reader.poll() is None
    append(file, b"\nnext\n")
    assert reader.lines() == [piece.decode() * 1000, "next"]
    assert reader.position == 20_000_006


def test_batches_are_bounded(file: Path) -> None:
    file.write_bytes(b"\n" * 120_000)
    reader = Reader(file)
    assert len(reader.lines()) == 120_000
    assert reader.sizes == [50_000, 50_000, 20_000]


def test_a_chosen_batch_size_is_obeyed_and_the_default_is_not(file: Path) -> None:
    file.write_bytes(b"x\n" * 2500)
    chosen, left = Reader(file, batch_size=1000), Reader(file)
    chosen.lines(), left.lines()
    assert chosen.sizes == [1000, 1000, 500]
    assert left.sizes == [2500]


def test_every_batch_ends_at_a_line_start(file: Path) -> None:
    file.write_bytes(b"a\nbb\nccc\n")
    reader = Reader(file, batch_size=1)
    assert [(reader.poll(), reader.position) for _ in range(3)] == [
        (["a"], 2),
        (["bb"], 5),
        (["ccc"], 9),
    ]


class TestRotation:
    def test_the_old_file_is_drained_before_the_new_one_is_read(self, file: Path) -> None:
        file.write_bytes(b"one\n")
        reader = Reader(file)
        assert reader.lines() == ["one"]
        old = file.rename(file.with_suffix(".1"))
        append(old, b"two\n")
        file.write_bytes(b"three\n")
        assert reader.lines() == ["two", "three"]
        assert reader.position == 6

    def test_what_comes_between_the_last_read_and_the_change_is_not_lost(
        self, file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file.write_bytes(b"one\ntw")
        reader = Reader(file)
        reader.lines()
        old = file.rename(file.with_suffix(".1"))
        file.write_bytes(b"three\n")
        change = reader.file.change

        def late_writer() -> followed_file.Change:
            append(old, b"o\nlast")
            monkeypatch.undo()
            return change()

        monkeypatch.setattr(reader.file, "change", late_writer)
        assert reader.lines() == ["two", "last", "three"]

    def test_an_unfinished_line_of_the_old_file_is_not_lost(self, file: Path) -> None:
        file.write_bytes(b"one\ntw")
        reader = Reader(file)
        assert reader.lines() == ["one"]
        file.rename(file.with_suffix(".1"))
        file.write_bytes(b"three\n")
        assert reader.poll() == ["tw"]
        assert reader.position == 0, "the old file is done, so a new task starts the new one"
        assert reader.lines() == ["three"]

    def test_the_old_file_is_read_while_the_new_one_is_empty(self, file: Path) -> None:
        file.write_bytes(b"one\ntw")
        reader = Reader(file)
        reader.lines()
        old = file.rename(file.with_suffix(".1"))
        file.touch()
        assert reader.poll() is None
        append(old, b"o\n")
        assert reader.lines() == ["two"]
        append(file, b"three\n")
        assert reader.lines() == ["three"]

    def test_an_empty_new_file_is_gone_over_to_after_a_while(
        self, file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file.write_bytes(b"one\ntw")
        reader = Reader(file)
        reader.lines()
        file.rename(file.with_suffix(".1"))
        file.touch()
        assert reader.poll() is None
        monkeypatch.setattr(followed_file, "GRACE", 0.0)
        assert reader.poll() == ["tw"]
        assert reader.position == 0

    def test_a_new_start_is_told_even_without_a_line(
        self, file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(followed_file, "GRACE", 0.0)
        file.write_bytes(b"one\n")
        reader = Reader(file)
        reader.lines()
        file.rename(file.with_suffix(".1"))
        file.touch()
        assert reader.poll() == []
        assert reader.position == 0
        assert reader.poll() is None

    def test_a_deleted_file_is_drained_and_its_successor_read_from_its_start(
        self, file: Path
    ) -> None:
        file.write_bytes(b"one\n")
        reader = Reader(file)
        reader.lines()
        with file.open("ab") as writer:
            file.unlink()
            writer.write(b"two\n")
        assert reader.lines() == ["two"]
        assert reader.poll() is None
        file.write_bytes(b"a longer first line than before\n")
        assert reader.lines() == ["a longer first line than before"]

    def test_twice_between_two_polls_skips_only_the_file_nobody_saw(self, file: Path) -> None:
        file.write_bytes(b"one\n")
        reader = Reader(file)
        reader.lines()
        for number in (1, 2):
            file.rename(file.with_suffix(f".{number}"))
            file.write_bytes(b"new %d\n" % number)
        assert reader.lines() == ["new 2"]


class TestTruncation:
    def test_the_file_is_read_from_its_start(self, file: Path) -> None:
        file.write_bytes(b"one\ntwo\n")
        reader = Reader(file)
        reader.lines()
        os.truncate(file, 0)
        append(file, b"new\n")
        assert reader.lines() == ["new"]
        assert reader.position == 4

    def test_an_empty_file_is_told_once_as_a_new_start(self, file: Path) -> None:
        file.write_bytes(b"one\ntw")
        reader = Reader(file)
        reader.lines()
        os.truncate(file, 0)
        assert (reader.poll(), reader.position) == ([], 0)
        assert reader.poll() is None
        append(file, b"new\n")
        assert reader.lines() == ["new"]

    def test_losing_part_of_the_unfinished_line_repeats_nothing(self, file: Path) -> None:
        file.write_bytes(b"one\ntwenty")
        reader = Reader(file)
        reader.lines()
        os.truncate(file, 6)
        assert reader.poll() is None
        append(file, b"o\n")
        assert reader.lines() == ["two"]
        assert reader.position == 8


class TestErrors:
    def test_a_folder_is_named_with_what_to_do(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match=f"{tmp_path} is not a regular file. Set 'file'"):
            Reader(tmp_path).poll()

    @pytest.mark.parametrize("device", ["/dev/null", "/dev/zero"])
    def test_a_character_device_is_an_empty_file(self, device: str) -> None:
        reader = Reader(Path(device))
        assert reader.poll() is None
        assert reader.poll() is None

    def test_a_pipe_does_not_block(self, file: Path) -> None:
        os.mkfifo(file)
        with pytest.raises(UserError, match="not a regular file"):
            Reader(file).poll()

    def test_a_file_on_the_way_of_the_path(self, file: Path) -> None:
        file.touch()
        with pytest.raises(UserError, match=r"Cannot open .*Not a directory"):
            Reader(file / "below").poll()

    def test_missing_rights_are_for_the_user(
        self, file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file.write_bytes(b"one\n")
        failing(monkeypatch, errno.EACCES)
        with pytest.raises(UserError, match=f"Cannot read {file}: permission denied. Let the user"):
            Reader(file).poll()

    def test_a_passing_fault_is_retried_and_loses_nothing(
        self, file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file.write_bytes(b"one\ntwo\nthr")
        reader = Reader(file, batch_size=1)
        assert reader.poll() == ["one"]
        with monkeypatch.context() as patch:
            patch.setattr(reader.file, "read_into", Raiser(errno.EIO))
            assert reader.poll() == ["two"]
            with pytest.raises(RetriableError, match="Cannot read"):
                reader.poll()
        assert reader.file._handle is None, "a stale handle would stay stale"
        append(file, b"ee\n")
        assert reader.lines() == ["three"]

    def test_a_stale_handle_of_a_replaced_file_leads_to_the_new_one(
        self, file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file.write_bytes(b"one\n")
        reader = Reader(file)
        reader.lines()
        file.rename(file.with_suffix(".1"))
        file.write_bytes(b"a longer line\n")
        with monkeypatch.context() as patch:
            patch.setattr(reader.file, "read_into", Raiser(errno.ESTALE))
            with pytest.raises(RetriableError):
                reader.poll()
        assert reader.lines() == ["a longer line"]

    def test_a_line_beyond_what_arrow_holds(
        self, file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(line_reader, "LONGEST_LINE", 10)
        file.write_bytes(b"one\n" + b"x" * 11)
        with pytest.raises(UserError, match="The line that starts at byte 0 of"):
            Reader(file).poll()
        with pytest.raises(UserError, match="The line that starts at byte 4 of"):
            Reader(file, 4).poll()

    def test_no_file_configured(self) -> None:
        with pytest.raises(ConfigError, match='Missing required configuration "file"'):
            FileStreamSourceTask().start({"topic": "t"}, OffsetReader())

    def test_an_offset_that_is_none(self, file: Path) -> None:
        offsets = OffsetReader([({"filename": str(file)}, {"position": "3"})])
        task = FileStreamSourceTask()
        task.start({"file": str(file), "topic": "t"}, offsets)
        with pytest.raises(UserError, match="expected to be a Long value"):
            task.poll()

    def test_stop_after_a_failed_start(self) -> None:
        FileStreamSourceTask().stop()


class Raiser:
    def __init__(self, number: int) -> None:
        self.error = OSError(number, os.strerror(number))

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise self.error


def failing(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    monkeypatch.setattr(os, "open", Raiser(number))


def open_here(file: Path) -> int:
    """How many descriptors of this process lead to ``file``."""
    count = 0
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile, by whomever
            count += link.readlink() == file
    return count


def test_stop_closes_the_file(file: Path) -> None:
    file.write_bytes(b"one\n")
    reader = Reader(file)
    reader.lines()
    assert open_here(file) == 1
    reader.task.stop()
    assert open_here(file) == 0


def test_a_batch_is_as_large_as_the_worker_wants_it_at_most(file: Path) -> None:
    lines = [f"{number:099d}" for number in range(5000)]
    file.write_text("\n".join(lines) + "\n")
    reader = Reader(file)
    reader.task.batch_bytes = 50_000
    assert reader.lines() == lines
    assert max(reader.sizes) <= 50_000 / 99


def test_news_are_more_bytes_another_file_or_fewer_bytes(file: Path, tmp_path: Path) -> None:
    file.write_text("one\n")
    reader = Reader(file)
    assert reader.poll() == ["one"]
    assert reader.poll() is None
    assert not reader.task.has_news()
    with file.open("a") as more:
        more.write("tw")
    assert reader.task.has_news()
    assert reader.poll() is None
    assert not reader.task.has_news()  # a line without its end is not read again and again
    with file.open("a") as more:
        more.write("o\n")
    assert reader.task.has_news()
    assert reader.poll() == ["two"]
    other = tmp_path / "other"
    other.write_text("new\n")
    other.replace(file)
    assert reader.task.has_news()
    assert reader.poll() == ["new"]
    assert reader.poll() is None
    file.write_text("")
    assert reader.task.has_news()


def test_a_file_that_is_created_is_news(file: Path) -> None:
    reader = Reader(file)
    assert reader.poll() is None
    assert not reader.task.has_news()
    file.write_text("one\n")
    assert reader.task.has_news()
    assert reader.poll() == ["one"]


def test_the_block_grows_with_what_there_is(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_source_task, "FIRST_BLOCK", 8)
    monkeypatch.setattr(line_reader, "BLOCK", 100)
    lines = [f"line {number}" for number in range(100)]
    file.write_text("few\n")
    reader = Reader(file)
    assert (reader.lines(), len(reader.task._block)) == (["few"], 8)
    append(file, "".join(f"{line}\n" for line in lines).encode())
    assert (reader.lines(), len(reader.task._block)) == (lines, 100)
