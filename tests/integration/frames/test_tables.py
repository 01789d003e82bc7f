"""Turns into tables of Delta's and Iceberg's, which remember the turns they have."""

from __future__ import annotations

import json
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
from sink_offsets import entry, in_group
from table_turns_process import TABLE, settings
from topics import Topics
from waiting import eventually
from worker_process import WorkerProcess

pytestmark = pytest.mark.heavy
SUPPORT = Path(__file__).parents[2] / "support"
PARTITIONS, EACH = 3, 10_000
Table = Callable[[str], Any]


@pytest.fixture(params=["delta", "iceberg"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def table_jars(java: Java, kind: str) -> str:
    return spark_jars(java, kind)


@pytest.fixture
def table(kind: str, table_jars: str, java: Java, tmp_path: Path) -> Table:
    """Runs ``table_turns_process.py`` over the table in the test's folder."""

    def run(what: str) -> Any:
        script = [sys.executable, str(SUPPORT / "table_turns_process.py")]
        done = subprocess.run(
            [*script, kind, str(tmp_path), table_jars, what],
            env=plain_spark(tmp_path / "spark", java),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return json.loads(done.stdout.splitlines()[-1])

    return run


def test_a_table_remembers_its_turns(kind: str, table: Table) -> None:
    told = table("turns")
    assert told["not there yet"] is False
    assert told["not wanted"] == "NOT_WANTED"
    assert told["first"] == ["WRITTEN", True, [0, 1, 2]]
    assert told["again"] == [True, [0, 1, 2]]
    assert told["the clock fell"] == ["WRITTEN", True, [0, 1, 2, 3, 4]]
    assert told["rewound"] == ["WRITTEN", sorted([*range(5), 0, 1])]
    assert "was not written: " in told["another schema"], "it cannot be merged"
    assert "was not written: " in told["another column"]
    assert told["nothing of these"] == told["rewound"][1]
    if kind == "delta":
        assert told["thawed"] == ["NOT_WANTED", told["rewound"][1]], "its number is an old one"
        assert told["epochs"] == [201, 900]


def test_a_session_that_was_not_prepared(kind: str, table: Table) -> None:
    said = table("unprepared")
    key = "spark.sql.extensions=io.delta" if kind == "delta" else "spark.sql.catalog.lake=org"
    assert f"add {key}" in said


@pytest.fixture
def worker(
    tmp_path: Path, broker: EmbeddedBroker, name: str, kind: str, table_jars: str
) -> Iterator[WorkerProcess]:
    given = {
        "spark.driver.memory": "700m",
        "spark.jars": table_jars,
        **settings(kind, str(tmp_path)),
    }
    made = WorkerProcess(
        tmp_path / "worker",
        port=free_port(),
        bootstrap_servers=broker.bootstrap_servers,
        properties={**own_topics(name), **given},
    )
    made.start()
    yield made
    made.close()


def commits(kind: str, folder: Path) -> int:
    """How often something was added to the table."""
    if kind == "delta":
        return len(list(folder.glob("people/_delta_log/*.json")))
    return len(list(folder.glob("lake/sales/people/metadata/snap-*.avro")))


def test_a_worker_killed_in_the_middle_of_turns_and_a_rewind(
    worker: WorkerProcess, topics: Topics, name: str, kind: str, table: Table, tmp_path: Path
) -> None:
    """Before, while and after a turn is committed to the table: each record is there once. What is
    read again because offsets were altered is there again."""
    topics.create(name, PARTITIONS)
    for partition in range(PARTITIONS):
        values = (b"%d" % (n * PARTITIONS + partition) for n in range(EACH))
        topics.produce(name, values, partition=partition)
    target = {"path": str(tmp_path / "people")} if kind == "delta" else {"table": TABLE}
    sink = {"connector.class": "SparkSink", "topics": name, "format": kind, **target}
    worker.client.create(name, {**sink, "select": "CAST(value AS BIGINT) AS id"})
    for turns in (1, 2):
        eventually(lambda: commits(kind, tmp_path) >= turns, within=180, every=0.02)  # noqa: B023 (called at once)
        worker.kill()
        worker.start()
    await_end(topics, name)
    found: Counter[int] = Counter(table("numbers"))
    assert sorted(found) == list(range(PARTITIONS * EACH))
    assert set(found.values()) == {1}
    worker.client.stop(name)
    worker.client.alter_offsets(name, [entry(name, 1, EACH - 5)])
    worker.client.resume(name)
    await_end(topics, name)
    again: Counter[int] = Counter(table("numbers"))
    assert again - found == Counter((EACH - n) * PARTITIONS + 1 for n in range(1, 6))


def await_end(topics: Topics, name: str) -> None:
    ends = [entry(name, p, topics.end(name, p)) for p in range(PARTITIONS)]
    group = f"connect-{name}"
    eventually(lambda: in_group(topics, group) == ends, within=300, what="all offsets", every=0.5)
