"""Many files through one connector: every line once, each file with an offset of its own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from penstock.client import ConnectClient
from penstock.plugins.files.file_source import FileStreamSourceConnector
from penstock.runtime.worker import Worker
from runners import resting
from topics import Topics
from waiting import eventually

FILES = 40
TASKS = 4


class Logs:
    """Files of numbered lines, ``<file>:<number>``, that grow."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.written: dict[str, int] = defaultdict(int)

    def grow(self, names: Iterable[str], lines: int) -> None:
        for name in names:
            first = self.written[name]
            self.written[name] += lines
            file = self.folder / name
            file.parent.mkdir(exist_ok=True)
            with file.open("a") as out:
                out.writelines(f"{name}:{number}\n" for number in range(first, first + lines))

    def numbers(self) -> dict[str, list[int]]:
        """What a reader of everything has seen."""
        return {name: list(range(count)) for name, count in self.written.items()}

    def sizes(self) -> dict[str, int]:
        """Where a reader of everything stands."""
        return {name: (self.folder / name).stat().st_size for name in self.written}


@pytest.fixture
def logs(tmp_path: Path) -> Logs:
    return Logs(tmp_path)


@pytest.fixture
def start(connectors: ConnectClient, topics: Topics, name: str, logs: Logs) -> Any:
    def create(**config: str) -> None:
        topics.create(name)
        glob = {"connector.class": "FileStreamSource", "file.glob": f"{logs.folder}/**/*.log"}
        connectors.create(name, {**glob, "topic": name, "tasks.max": str(TASKS), **config})

    return create


def by_file(values: Iterable[str]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for value in values:
        file, number = value.split(":")
        found[file].append(int(number))
    return found


def stands(client: ConnectClient, name: str, logs: Logs) -> dict[str, int]:
    return {
        str(Path(entry["partition"]["filename"]).relative_to(logs.folder)): entry["offset"][
            "position"
        ]
        for entry in client.offsets(name)
    }


def test_forty_files_that_grow_and_multiply_while_four_tasks_read_them(
    connectors: ConnectClient, topics: Topics, start: Any, logs: Logs, name: str
) -> None:
    old = [f"{number % 4}/{number}.log" for number in range(FILES)]
    logs.grow(old, 500)
    start()
    eventually(lambda: topics.end(name) > 0, what="the first lines")
    for wave in range(10):
        logs.grow(old[wave::10], 300)
        logs.grow([f"{wave % 5}/new-{wave}-{number}.log" for number in range(3)], 50)
        eventually(
            lambda: len(connectors.offsets(name)) == len(logs.written),
            what=f"wave {wave}, taken up",
        )
    eventually(lambda: stands(connectors, name, logs) == logs.sizes(), what="all lines")
    assert by_file(topics.values(name)) == logs.numbers()
    status = connectors.status(name)
    assert [task["state"] for task in status["tasks"]] == ["RUNNING"] * TASKS


def test_one_files_offset_is_altered_and_only_that_is_read_again(
    connectors: ConnectClient, topics: Topics, start: Any, logs: Logs, name: str
) -> None:
    logs.grow(["a.log", "b.log", "c.log"], 10)
    start()
    eventually(lambda: stands(connectors, name, logs) == logs.sizes(), what="all lines")
    connectors.stop(name)
    partition = {"filename": str(logs.folder / "b.log")}
    six = len("b.log:0\n") * 6
    connectors.alter_offsets(name, [{"partition": partition, "offset": {"position": six}}])
    assert stands(connectors, name, logs) == {**logs.sizes(), "b.log": six}
    connectors.resume(name)
    eventually(lambda: stands(connectors, name, logs) == logs.sizes(), what="four lines again")
    seen = by_file(topics.values(name))
    assert seen.pop("b.log") == [*range(10), 6, 7, 8, 9]
    assert seen == {"a.log": list(range(10)), "c.log": list(range(10))}


def test_a_plan_that_fails_is_asked_for_again(
    connectors: ConnectClient,
    topics: Topics,
    start: Any,
    logs: Logs,
    name: str,
    worker: Worker,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Sequence[int]] = []
    plan = FileStreamSourceConnector.plan

    def stumbling(
        connector: FileStreamSourceConnector, offsets: Any, tasks: Sequence[int]
    ) -> Sequence[Mapping[str, str]] | None:
        asked.append(tasks)
        if len(asked) < 3:
            raise ValueError("no idea")
        return plan(connector, offsets, tasks)

    monkeypatch.setattr(FileStreamSourceConnector, "plan", stumbling)
    logs.grow(["a.log"], 5)
    start()
    eventually(lambda: stands(connectors, name, logs) == logs.sizes(), what="all lines")
    assert by_file(topics.values(name)) == logs.numbers()
    assert asked[:3] == [[0, 1, 2, 3]] * 3
    stored = connectors.tasks(name)
    assert {key for task in stored for key in task["config"]} >= {"file.glob", "task.class"}
    assert not any("file.glob.share" in task["config"] for task in stored)
    eventually(lambda: resting(worker, name), what="the end of its turn")
    assert connectors.status(name)["connector"]["state"] == "RUNNING"
