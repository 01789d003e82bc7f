"""Every line of many files exactly once, in order, whoever reads them and however turns end."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.plugins.files import (
    file_lines,
    file_source_task,
    gathered_lines,
    line_reader,
    reader_rota,
)
from penstock.plugins.files.file_source import FileStreamSourceConnector
from penstock.plugins.files.file_source_task import FileStreamSourceTask
from penstock.sdk.offsets import OffsetReader
from source_batches import polled

TASKS = 3
Offsets = dict[str, int]


class Lease:
    """One task from start to stop, and what it has read since its last commit."""

    def __init__(self, config: dict[str, str], offsets: OffsetReader) -> None:
        self.task = FileStreamSourceTask()
        self.task.start(config, offsets)
        self.lines: list[str] = []
        self.offsets: Offsets = {}

    def poll(self) -> bool:
        batch = polled(self.task)
        if batch is None:
            return False
        self.lines += batch.records.column("value").to_pylist()
        self.offsets.update((p["filename"], o["position"]) for p, o in batch.offsets if o)
        return True


class Worker:
    """What the worker does with a connector: plan, run a lease per task, plan again."""

    def __init__(self, folder: str, batch_size: int) -> None:
        self.folder = Path(folder)
        self.connector = FileStreamSourceConnector()
        config = {"file.glob": f"{folder}/**/*.log", "topic": "t", "batch.size": str(batch_size)}
        self.connector.start(config)
        self.configs = self.connector.task_configs(TASKS)
        self.offsets: Offsets = {}
        self.topic: list[str] = []
        self.written: dict[str, int] = {}
        self.leases: list[Lease] = []
        self.begin()

    def begin(self) -> None:
        offsets = OffsetReader(({"filename": f}, {"position": p}) for f, p in self.offsets.items())
        extras = self.connector.plan(offsets, range(TASKS)) or ()
        pairs = zip(self.configs, extras, strict=True)
        self.leases = [Lease({**config, **extra}, offsets) for config, extra in pairs]

    def append(self, file: int, lines: int) -> None:
        path = self.folder / f"{file % 3}" / f"{file}.log"
        path.parent.mkdir(exist_ok=True)
        first = self.written.get(str(path), 0)
        self.written[str(path)] = first + lines
        with path.open("a") as out:
            out.writelines(f"{path}:{number}\n" for number in range(first, first + lines))

    def poll(self, task: int, _: int) -> None:
        self.leases[task % TASKS].poll()

    def commit(self, task: int, _: int = 0) -> None:
        lease = self.leases[task % TASKS]
        self.topic += lease.lines
        self.offsets |= lease.offsets
        lease.lines, lease.offsets = [], {}

    def finish(self, *_: int) -> None:
        """All leases commit, and a new turn begins."""
        for task in range(TASKS):
            self.commit(task)
        self.crash()

    def crash(self, *_: int) -> None:
        """What was not committed is lost, and a new turn begins."""
        self.close()
        self.begin()

    def drain(self) -> None:
        while any(lease.poll() for lease in self.leases):
            pass
        self.finish()

    def close(self) -> None:
        for lease in self.leases:
            lease.task.stop()


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["append", "append", "poll", "poll", "poll", "commit", "finish", "crash"]),
        st.integers(0, 7),
        st.integers(1, 6),
    ),
    max_size=40,
)


@pytest.mark.parametrize(("block", "most_open"), [(64, 1), (256, 64), (1 << 20, 2)])
def test_exactly_once(block: int, most_open: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_lines, "SEARCH_PAUSE", 0.0)
    monkeypatch.setattr(file_lines, "SEARCH_RATIO", 0)
    monkeypatch.setattr(file_source_task, "FIRST_BLOCK", block)
    monkeypatch.setattr(line_reader, "BLOCK", block)
    monkeypatch.setattr(gathered_lines, "MOST_BYTES", block)
    monkeypatch.setattr(reader_rota, "MOST_OPEN", most_open)
    any_turns()


@settings(max_examples=50)
@given(STEPS, st.integers(1, 8))
def any_turns(steps: list[tuple[str, int, int]], batch_size: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        worker = Worker(folder, batch_size)
        for step, who, much in steps:
            getattr(worker, step)(who, much)
        worker.drain()
        worker.close()
    seen: dict[str, list[int]] = {}
    for line in worker.topic:
        path, _, number = line.rpartition(":")
        seen.setdefault(path, []).append(int(number))
    assert seen == {path: list(range(count)) for path, count in worker.written.items()}
