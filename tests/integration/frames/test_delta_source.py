"""A table of Delta's into a topic, version by version, by a worker that is killed meanwhile."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from format_jars import spark_jars
from free_ports import free_port
from own_cluster import own_topics
from penstock.embedded import EmbeddedBroker, Java
from plain_spark import plain_spark
from table_turns_process import settings
from topics import Topics
from waiting import eventually
from worker_process import WorkerProcess

pytestmark = pytest.mark.heavy
SUPPORT = Path(__file__).parents[2] / "support"
FIRST, MORE, FILES = 600_000, 20_000, 6
"""Rows of the table at first, in so many files, and of each later version."""
Run = Callable[[str], None]


@pytest.fixture
def run(java: Java, tmp_path: Path) -> Iterator[Run]:
    """Runs statements in a session beside the worker's."""
    script = [sys.executable, str(SUPPORT / "delta_table_process.py"), str(tmp_path)]
    with subprocess.Popen(
        [*script, spark_jars(java, "delta")],
        env=plain_spark(tmp_path / "spark", java),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def run(statement: str) -> None:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(f"{statement}\n")
            process.stdin.flush()
            assert process.stdout.readline() == "done\n", statement

        yield run
        process.stdin.close()
        process.wait(60)


@pytest.fixture
def worker(
    tmp_path: Path, broker: EmbeddedBroker, name: str, java: Java
) -> Iterator[WorkerProcess]:
    jars = {"spark.jars": spark_jars(java, "delta"), **settings("delta", str(tmp_path))}
    made = WorkerProcess(
        tmp_path / "worker",
        port=free_port(),
        bootstrap_servers=broker.bootstrap_servers,
        properties={**own_topics(name), "spark.driver.memory": "700m", **jars},
    )
    made.start()
    yield made
    made.close()


def source(name: str, tmp_path: Path, **more: str) -> dict[str, str]:
    return {
        "connector.class": "SparkSource",
        "format": "delta",
        "path": str(tmp_path / "people"),
        "topic": name,
        "value.column": "id",
        "list.interval.ms": "300",
        "value.converter": "org.apache.kafka.connect.converters.LongConverter",
        **more,
    }


def ids(topics: Topics, name: str) -> Counter[int]:
    return Counter(int.from_bytes(m.value() or b"", "big") for m in topics.messages(name))


def append(first: int, count: int, files: int = 1) -> str:
    rows = f"SELECT /*+ REPARTITION({files}) */ id FROM range({first}, {first + count})"  # noqa: S608 (numbers)
    return f"INSERT INTO {{table}} {rows}"


def offset(worker: WorkerProcess, name: str) -> dict[str, Any]:
    [entry] = worker.client.offsets(name)
    return dict(entry["offset"])


def test_a_table_by_version_with_kills_a_change_and_an_altered_offset(
    worker: WorkerProcess, topics: Topics, name: str, tmp_path: Path, run: Run
) -> None:
    run("CREATE TABLE {table} (id BIGINT) USING delta")
    run(append(0, FIRST, FILES))
    topics.create(name)
    worker.client.create(name, source(name, tmp_path))
    for part in (1, FIRST // 2):
        eventually(lambda: topics.end(name) > part, within=180, every=0.02)  # noqa: B023 (called at once)
        worker.kill()
        assert topics.end(name) < FIRST, "it was killed too late to show anything"
        worker.start()
    run(append(FIRST, MORE))
    run(append(FIRST + MORE, MORE, 2))
    wanted = Counter(range(FIRST + 2 * MORE))
    ended = {"version": 4, "index": 0}
    eventually(lambda: offset(worker, name) == ended, within=180, what="the end", every=0.5)
    assert ids(topics, name) == wanted

    worker.client.stop(name)
    place = {"table": str(tmp_path / "people")}
    again = [{"partition": place, "offset": {"version": 3, "index": 1}}]
    worker.client.alter_offsets(name, again)
    worker.client.resume(name)
    eventually(lambda: offset(worker, name) == ended, within=120, what="the end", every=0.2)
    repeated = ids(topics, name) - wanted
    assert 0 < len(repeated) < MORE, "one of two files"
    assert set(repeated) <= set(range(FIRST + MORE, FIRST + 2 * MORE))

    run("DELETE FROM {table} WHERE id = 5")
    trace = eventually(
        lambda: (worker.client.status(name)["tasks"] or [{}])[0].get("trace", ""),
        within=120,
        what="a failed task",
    )
    assert "Version 4 of the table" in trace
    assert "(DELETE)" in trace
    before = ids(topics, name)
    run(append(1_000_000, 3))
    worker.client.put_config(name, source(name, tmp_path, **{"table.changes": "skip"}))
    last = {"version": 6, "index": 0}
    eventually(lambda: offset(worker, name) == last, within=120, what="the end", every=0.2)
    assert ids(topics, name) - before == Counter(range(1_000_000, 1_000_003))
