"""Nothing is lost and nothing comes twice, however a file grows and tasks come and go."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.plugins.files import file_source_task, line_reader
from penstock.plugins.files.file_source_task import FileStreamSourceTask
from penstock.sdk.offsets import OffsetReader
from source_batches import polled

PIECES = st.lists(
    st.sampled_from([b"\n", b"\r\n", b"\r", b"\xff", b"\xe2", b"\x82\xac", b"\x00", b"abc", b""])
    | st.binary(max_size=12),
    max_size=8,
).map(b"".join)
STEPS = st.lists(
    st.tuples(st.just("append"), PIECES)
    | st.tuples(st.sampled_from(["poll", "commit", "restart"]), st.just(b"")),
    max_size=30,
)


class Lease:
    """A task, the lines it gave out since the last commit, and the committed ones."""

    def __init__(self, file: Path, batch_size: int) -> None:
        self.config = {"file": str(file), "topic": "t", "batch.size": str(batch_size)}
        self.partition = {"filename": str(file)}
        self.offsets = OffsetReader()
        self.next = self.offsets
        self.committed: list[str] = []
        self.task = FileStreamSourceTask()
        self.restart()

    def restart(self) -> None:
        self.task.stop()
        self.fresh: list[str] = []
        self.next = self.offsets
        self.task = FileStreamSourceTask()
        self.task.start(self.config, self.offsets)

    @property
    def position(self) -> int:
        """The committed one."""
        offset = self.offsets.get(self.partition)
        assert offset is not None
        return int(offset["position"])

    def commit(self) -> None:
        self.committed += self.fresh
        self.fresh = []
        self.offsets = self.next

    def drain(self) -> None:
        """Everything there is, committed."""
        while self.poll():
            self.commit()
        self.commit()

    def poll(self) -> bool:
        batch = polled(self.task)
        if batch is None:
            return False
        batch.records.validate(full=True)
        self.fresh += batch.records.column("value").to_pylist()
        self.next = OffsetReader((p, o) for p, o in batch.offsets if o)
        return True


@pytest.mark.parametrize("block", [1, 3, 16, 1 << 20])
def test_the_lines_are_those_of_the_file(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_source_task, "FIRST_BLOCK", block)
    monkeypatch.setattr(line_reader, "BLOCK", block)
    any_growth()


@settings(max_examples=50)
@given(STEPS, st.integers(1, 4))
def any_growth(steps: list[tuple[str, bytes]], batch_size: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "in.txt"
        lease = Lease(file, batch_size)
        for step, data in steps:
            if step == "append":
                with file.open("ab") as out:
                    out.write(data)
            else:
                getattr(lease, step)()
        lease.drain()
        content = file.read_bytes() if file.exists() else b""
        lease.task.stop()
    *whole, rest = content.split(b"\n")
    assert lease.committed == [line.decode("utf-8", "replace") for line in whole]
    if whole:
        assert lease.position == len(content) - len(rest)


def test_rotation_under_a_reading_task_loses_nothing() -> None:
    any_rotation()


@settings(max_examples=50)
@given(st.lists(st.tuples(PIECES, PIECES), min_size=1, max_size=5), st.integers(1, 4))
def any_rotation(files: list[tuple[bytes, bytes]], batch_size: int) -> None:
    """Each file gets some bytes under its name, and some more after it was renamed."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "in.txt"
        lease = Lease(file, batch_size)
        for number, (before, after) in enumerate(files):
            file.write_bytes(b"x" + before)
            lease.drain()
            old = file.rename(file.with_suffix(f".{number}"))
            with old.open("ab") as out:
                out.write(after)
            lease.poll()
        file.write_bytes(b"end\n")
        lease.drain()
        lease.task.stop()
    assert lease.committed == [*(line for file in files for line in lines_of(file)), "end"]
    assert lease.position == 4


def test_rotation_between_two_tasks_loses_nothing() -> None:
    any_rotation_between_tasks()


@settings(max_examples=50)
@given(st.lists(st.tuples(PIECES, PIECES), min_size=1, max_size=5), st.integers(1, 4))
def any_rotation_between_tasks(files: list[tuple[bytes, bytes]], batch_size: int) -> None:
    """No task runs while a file is renamed; each has had a line before, so that it is known."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "in.txt"
        lease = Lease(file, batch_size)
        for number, (before, after) in enumerate(files):
            file.write_bytes(b"x" + before + b"\n")
            lease.drain()
            lease.task.stop()
            old = file.rename(file.with_suffix(f".{number}"))
            with old.open("ab") as out:
                out.write(after)
            lease.restart()
        file.write_bytes(b"end\n")
        lease.drain()
        lease.task.stop()
    known = ((before + b"\n", after) for before, after in files)
    assert lease.committed == [*(line for file in known for line in lines_of(file)), "end"]
    assert lease.position == 4


def lines_of(file: tuple[bytes, bytes]) -> list[str]:
    *whole, rest = b"".join([b"x", *file]).split(b"\n")
    return [line.decode("utf-8", "replace") for line in [*whole, *([rest] if rest else [])]]
