"""Workers that are killed while Spark reads files into topics: each row is there once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from format_jars import spark_jars
from penstock.embedded import Java
from penstock.embedded.postgres import USER
from tables import Tables
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


def test_a_worker_killed_in_the_middle_of_a_table(
    start: Start, topics: Topics, name: str, tables: Tables, java: Java
) -> None:
    tables.run("CREATE TABLE numbers (id BIGINT PRIMARY KEY, line TEXT)")
    fill = "INSERT INTO numbers SELECT n, n::text FROM generate_series({}, {}) AS n"
    tables.run(fill.format(1, LONG))
    topics.create(name)
    worker = start(spark_jars=spark_jars(java, "postgres"))
    table = {
        "connector.class": "SparkSource",
        "format": "jdbc",
        "format.options.driver": "org.postgresql.Driver",
        "format.options.url": tables.postgres.jdbc_url,
        "format.options.user": USER,
        "format.options.password": tables.postgres.password,
        "format.options.dbtable": f"{tables.schema}.numbers",
        "mode": "incrementing",
        "incrementing.column.name": "id",
        "value.column": "line",
        "topic": name,
        "list.interval.ms": "500",
    }
    worker.client.create(name, table)
    for part in (1, LONG // 3):
        eventually(lambda: topics.end(name) > part, within=180, every=0.02)  # noqa: B023 (called at once)
        worker.kill()
        assert topics.end(name) < LONG, "it was killed too late to show anything"
        worker.start()
    eventually(lambda: topics.end(name) >= LONG, within=300, what="all rows", every=0.5)
    tables.run(fill.format(LONG + 1, LONG + 1))
    last = str(LONG + 1)
    eventually(lambda: topics.values(name)[-1:] == [last], within=120, what="the last row")
    assert topics.values(name) == [str(n) for n in range(1, LONG + 2)]
