"""The file source with a pattern: many files, each with a position of its own."""

from __future__ import annotations

import errno
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from penstock.plugins.files import (
    file_lines,
    file_source_task,
    gathered_lines,
    line_reader,
    reader_rota,
)
from penstock.plugins.files.file_source import FileStreamSourceConnector
from penstock.plugins.files.file_source_task import FileStreamSourceTask
from penstock.sdk.errors import RetriableError, UserError
from penstock.sdk.offsets import OffsetReader
from source_batches import polled


@pytest.fixture(autouse=True)
def search_at_every_poll(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_lines, "SEARCH_PAUSE", 0.0)
    monkeypatch.setattr(file_lines, "SEARCH_RATIO", 0)


class Many:
    """A task over the ``*.log`` files of a folder, and what came out of it."""

    def __init__(self, folder: Path, positions: Mapping[str, int], **config: str) -> None:
        self.folder = folder
        self.positions = dict(positions)
        self.batches: list[dict[str, int]] = []
        self.task = FileStreamSourceTask()
        offsets = [({"filename": str(folder / n)}, {"position": p}) for n, p in positions.items()]
        config = {"file.glob": f"{folder}/*.log", "topic": "t", **config}
        self.task.start(config, OffsetReader(offsets))

    def poll(self) -> list[str] | None:
        batch = polled(self.task)
        if batch is None:
            return None
        batch.records.validate(full=True)
        told = {Path(p["filename"]).name: o["position"] for p, o in batch.offsets if o}
        assert len(told) == len(batch.offsets), "each file once"
        self.batches.append(told)
        self.positions.update(told)
        return [str(value) for value in batch.records.column("value").to_pylist()]

    def lines(self) -> list[str]:
        """All there is at the moment."""
        found: list[str] = []
        while (lines := self.poll()) is not None:
            found += lines
        return found

    def append(self, name: str, data: str) -> None:
        with (self.folder / name).open("a") as out:
            out.write(data)

    @property
    def open_files(self) -> int:
        opened = (Path(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd"))  # noqa: PTH208 (names only)
        return sum(str(self.folder) in os.readlink(fd) for fd in opened if fd.is_symlink())  # noqa: PTH115 (as text)


@pytest.fixture
def many(tmp_path: Path) -> Iterator[Any]:
    made: list[Many] = []

    def make(positions: Mapping[str, int] | None = None, **config: str) -> Many:
        made.append(Many(tmp_path, positions or {}, **config))
        return made[-1]

    yield make
    for each in made:
        each.task.stop()


def test_small_files_come_in_one_batch_each_with_its_position(many: Any) -> None:
    reader = many({"b.log": 2})
    for name, data in {"a.log": "a1\na2\n", "b.log": "b\nb2\nrest", "c.txt": "no\n"}.items():
        reader.append(name, data)
    assert reader.lines() == ["a1", "a2", "b2"]
    assert reader.batches == [{"a.log": 6, "b.log": 5}]


def test_files_that_appear_and_grow_later(many: Any) -> None:
    reader = many()
    assert reader.poll() is None
    reader.append("a.log", "one\n")
    assert reader.lines() == ["one"]
    reader.append("b.log", "two\n")
    reader.append("a.log", "three\n")
    assert sorted(reader.lines()) == ["three", "two"]
    assert reader.positions == {"a.log": 10, "b.log": 4}


def test_the_folder_is_not_searched_at_every_poll(
    many: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_lines, "SEARCH_PAUSE", 1000.0)
    reader = many()
    reader.append("a.log", "one\n")
    assert reader.lines() == ["one"]
    reader.append("b.log", "two\n")
    reader.append("a.log", "three\n")
    assert reader.lines() == ["three"]


def test_deleted_files_are_forgotten_without_an_error(many: Any, tmp_path: Path) -> None:
    reader = many({"gone.log": 40})
    reader.append("a.log", "one\n")
    reader.append("b.log", "two\n")
    assert reader.lines() == ["one", "two"]
    (tmp_path / "a.log").unlink()
    assert reader.lines() == []
    reader.append("b.log", "three\n")
    assert reader.lines() == ["three"]


def test_a_file_that_comes_back_is_not_read_again(many: Any, tmp_path: Path) -> None:
    reader = many()
    reader.append("a.log", "one\n")
    assert reader.lines() == ["one"]
    away = (tmp_path / "a.log").rename(tmp_path / "a.away")
    assert reader.lines() == []
    away.rename(tmp_path / "a.log")
    reader.append("a.log", "two\n")
    assert reader.lines() == ["two"]


def test_rotation_and_truncation_of_one_file_leave_the_others_alone(
    many: Any, tmp_path: Path
) -> None:
    reader = many()
    for name in ("a.log", "b.log", "c.log"):
        reader.append(name, "first\n")
    reader.lines()
    (tmp_path / "a.log").rename(tmp_path / "a.log.1")
    reader.append("a.log.1", "last of a\n")
    reader.append("a.log", "new a\n")
    os.truncate(tmp_path / "b.log", 0)
    reader.append("b.log", "b\n")
    assert sorted(reader.lines()) == ["b", "last of a", "new a"]
    assert reader.positions == {"a.log": 6, "b.log": 2, "c.log": 6}


def test_a_folder_in_the_place_of_a_file_is_passed_over(many: Any, tmp_path: Path) -> None:
    reader = many()
    reader.append("a.log", "one\n")
    reader.append("b.log", "two\n")
    reader.lines()
    (tmp_path / "a.log").unlink()
    (tmp_path / "a.log").mkdir()
    reader.append("b.log", "three\n")
    assert reader.lines() == ["three"]


def test_files_take_turns_a_block_each(many: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_source_task, "FIRST_BLOCK", 8)
    monkeypatch.setattr(line_reader, "BLOCK", 8)
    monkeypatch.setattr(gathered_lines, "MOST_BYTES", 1)
    reader = many()
    for name in ("a", "b", "c"):
        reader.append(f"{name}.log", f"{name}\n" * 8)
    first = [reader.poll() for _ in range(6)]
    assert first == [[name] * 4 for name in "abcabc"]


def test_no_second_block_is_read_before_the_first_is_handed_on(
    many: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = many(**{"batch.size": "3"})
    for name in ("a", "b"):
        reader.append(f"{name}.log", f"{name}\n" * 4)
    polled = [reader.poll() for _ in range(4)]
    assert polled == [["a", "a", "a"], ["a", "b", "b"], ["b", "b"], None]
    assert reader.batches == [{"a.log": 6}, {"a.log": 8, "b.log": 4}, {"b.log": 8}]


def test_a_thousand_little_files_are_one_poll_and_few_handles(many: Any) -> None:
    reader = many()
    for number in range(1000):
        reader.append(f"{number:03d}.log", f"{number}\n" * 10)
    lines = reader.poll()
    assert lines == [str(number) for number in range(1000) for _ in range(10)]
    assert len(reader.batches[0]) == 1000
    assert 0 < reader.open_files <= reader_rota.MOST_OPEN
    assert reader.poll() is None
    for number in range(0, 1000, 7):
        reader.append(f"{number:03d}.log", "more\n")
    assert reader.lines() == ["more"] * 143
    assert reader.open_files <= reader_rota.MOST_OPEN


def test_more_large_files_than_may_be_open(many: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines longer than a block, and blocks that end in the middle of one."""
    monkeypatch.setattr(reader_rota, "MOST_OPEN", 2)
    monkeypatch.setattr(file_source_task, "FIRST_BLOCK", 16)
    monkeypatch.setattr(line_reader, "BLOCK", 16)
    reader = many()
    expected: dict[str, list[str]] = defaultdict(list)
    for name in "abcde":
        expected[name] = [f"{name}{'x' * (n % 40)}" for n in range(60)]
        reader.append(f"{name}.log", "".join(f"{line}\n" for line in expected[name]) + "rest")
    seen: dict[str, list[str]] = defaultdict(list)
    while (lines := reader.poll()) is not None:
        assert reader.open_files <= 3
        for line in lines:
            seen[line[0]].append(line)
    assert seen == expected
    for name in "abcde":
        reader.append(f"{name}.log", " of it\n")
    assert reader.lines() == ["rest of it"] * 5


def test_a_closed_file_that_was_replaced_is_read_from_its_start(
    many: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(reader_rota, "MOST_OPEN", 0)
    reader = many()
    reader.append("a.log", "one\n")
    assert reader.lines() == ["one"]
    assert reader.open_files == 0
    (tmp_path / "a.log").rename(tmp_path / "a.old")
    reader.append("a.log", "two\n")
    assert reader.lines() == ["two"], "as long as the old one, but not the same"


class TestErrors:
    def refuse(self, monkeypatch: pytest.MonkeyPatch, name: str, number: int) -> None:
        real = os.open

        def opened(path: Any, *args: Any) -> int:
            if Path(path).name == name:
                raise OSError(number, os.strerror(number))
            return real(path, *args)

        monkeypatch.setattr(os, "open", opened)

    def test_a_passing_one_of_a_file_loses_nothing_of_the_others(
        self, many: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        reader = many()
        for name in "abc":
            reader.append(f"{name}.log", f"{name}1\n{name}2\n")
        with monkeypatch.context() as patch:
            self.refuse(patch, "b.log", errno.EIO)
            assert reader.poll() == ["a1", "a2"]
            with pytest.raises(RetriableError, match=r"b\.log at the moment"):
                reader.poll()
            assert reader.poll() == ["c1", "c2"]
            with pytest.raises(RetriableError):
                reader.poll()
        assert reader.lines() == ["b1", "b2"]

    def test_a_file_that_may_not_be_read_fails_the_task_and_is_named(
        self, many: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.refuse(monkeypatch, "b.log", errno.EACCES)
        reader = many()
        for name in "abc":
            reader.append(f"{name}.log", f"{name}\n")
        assert reader.poll() == ["a"], "committed with the transaction, or read again"
        with pytest.raises(UserError, match=r"Cannot read .*/b\.log: permission denied\. Let"):
            reader.poll()

    def test_a_folder_that_may_not_be_listed_is_named(
        self, many: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        def refuse(path: str) -> Any:
            raise PermissionError(errno.EACCES, "Permission denied")

        monkeypatch.setattr(os, "scandir", refuse)
        with pytest.raises(UserError, match=f"Cannot read {tmp_path}/: permission denied"):
            many().poll()

    def test_a_line_too_long_is_named_with_its_file(
        self, many: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(line_reader, "LONGEST_LINE", 10)
        reader = many()
        reader.append("a.log", "x" * 11)
        with pytest.raises(UserError, match=r"byte 0 of .*/a\.log is longer"):
            reader.poll()


class TestConnector:
    @pytest.fixture
    def connector(self, tmp_path: Path) -> FileStreamSourceConnector:
        connector = FileStreamSourceConnector()
        connector.start({"file.glob": f"{tmp_path}/*.log", "topic": "t"})
        return connector

    def at(self, folder: Path, **positions: int) -> OffsetReader:
        return OffsetReader(
            ({"filename": f"{folder}/{name}.log"}, {"position": p}) for name, p in positions.items()
        )

    def test_as_many_tasks_as_are_allowed(self, connector: FileStreamSourceConnector) -> None:
        assert len(connector.task_configs(3)) == 3

    def test_a_star_in_file_is_a_star_and_needs_no_plan(self, tmp_path: Path) -> None:
        connector = FileStreamSourceConnector()
        connector.start({"file": f"{tmp_path}/*.log", "topic": "t"})
        (tmp_path / "a.log").write_text("one\n")
        assert connector.look(OffsetReader()) is False
        assert connector.plan(OffsetReader(), [0]) is None
        (tmp_path / "*.log").write_text("one\n")
        assert connector.look(OffsetReader()) is True

    def test_look(self, connector: FileStreamSourceConnector, tmp_path: Path) -> None:
        assert connector.look(OffsetReader()) is False
        (tmp_path / "a.log").write_text("one\npart")
        (tmp_path / "b.log").write_text("two\n")
        assert connector.look(OffsetReader()) is True
        assert connector.look(self.at(tmp_path, a=4)) is True
        known = self.at(tmp_path, a=4, b=4)
        assert connector.look(known) is False
        (tmp_path / "c.log").write_text("new\n")
        assert connector.look(known) is True
        (tmp_path / "c.log").unlink()
        assert connector.look(known) is False
        with (tmp_path / "a.log").open("a") as out:
            out.write("ial\n")
        assert connector.look(known) is True

    def test_look_asks_nothing_of_files_that_nobody_reads(
        self, connector: FileStreamSourceConnector, tmp_path: Path
    ) -> None:
        (tmp_path / "a.log").write_text("one\n")
        connector.plan(OffsetReader(), [0, 1])
        assert connector.look(OffsetReader()) is True
        connector.plan(OffsetReader(), [1])
        assert connector.look(OffsetReader()) is False

    def test_a_folder_that_may_not_be_listed_is_left_to_the_tasks(
        self, connector: FileStreamSourceConnector, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(path: str) -> Any:
            raise PermissionError(errno.EACCES, "Permission denied")

        monkeypatch.setattr(os, "scandir", refuse)
        assert connector.look(OffsetReader()) is True
        planned = connector.plan(OffsetReader(), [0, 1])
        assert planned is not None
        assert len(planned) == 2

    def test_bytes_left_decide_who_reads_what(
        self, connector: FileStreamSourceConnector, tmp_path: Path
    ) -> None:
        for name in ("a", "b"):
            (tmp_path / f"{name}.log").write_text("x\n" * 1_000_000)
        (tmp_path / "c.log").write_text("x\n" * 1_500_000)
        shares = connector.plan(self.at(tmp_path, a=2_000_000), [0, 1])
        assert shares is not None
        names = [s["file.glob.share"] for s in shares]
        assert ["c.log" in name for name in names] == [True, False]
        assert ["b.log" in name for name in names] == [False, True]
