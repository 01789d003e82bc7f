"""Workers that are killed while Spark reads files into topics: each row is there once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from topics import Topics
from waiting import eventually
from worker_process import WorkerProcess

pytestmark = pytest.mark.heavy
LONG, SHORT, FILES = 400_000, 5_000, 8
"""Lines of the long file, of each short one, and how many of these there are."""
LINES = LONG + FILES * SHORT
Start = Callable[..., WorkerProcess]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One long file, so that a worker dies in the middle of it, and some short ones."""
    made = tmp_path / "in"
    made.mkdir()
    write(made / "long.txt", range(LONG))
    for number in range(FILES):
        first = LONG + number * SHORT
        write(made / f"{number}.txt", range(first, first + SHORT))
    return made


def write(file: Path, numbers: range) -> None:
    file.write_text("".join(f"{number}\n" for number in numbers))


def source(name: str, folder: Path) -> dict[str, str]:
    return {
        "connector.class": "SparkSource",
        "format": "text",
        "path": str(folder),
        "topic": name,
        "tasks.max": "2",
        "list.interval.ms": "500",
    }


def test_a_worker_killed_in_the_middle_of_files(
    start: Start, topics: Topics, name: str, folder: Path
) -> None:
    topics.create(name)
    worker = start()
    worker.client.create(name, source(name, folder))
    for part in (1, LONG // 3):
        eventually(lambda: topics.end(name) > part, within=180, every=0.02)  # noqa: B023 (called at once)
        worker.kill()
        assert topics.end(name) < LINES, "it was killed too late to show anything"
        worker.start()
    eventually(lambda: topics.end(name) >= LINES, within=300, what="all lines", every=0.5)
    (folder / "last.txt").write_text("last\n")
    eventually(lambda: "last" in topics.values(name)[-10:], within=120, what="the last line")
    found = Counter(topics.values(name))
    assert len(found) == LINES + 1
    assert set(found.values()) == {1}
    long = [int(v) for v in topics.values(name) if v != "last" and int(v) < LONG]
    assert long == sorted(long), "the lines of a file keep their order"
    assert len(worker.client.offsets(name)) <= 64
