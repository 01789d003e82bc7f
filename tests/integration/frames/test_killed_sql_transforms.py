"""Workers that are killed in turns of a source and a sink with a transform in Spark SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from files import lines_of
from free_ports import free_port
from own_cluster import own_topics
from penstock.embedded import EmbeddedBroker
from sink_offsets import entry, in_group
from topics import Topics
from waiting import eventually
from worker_process import WorkerProcess

pytestmark = pytest.mark.heavy
LINES = 300_000
Start = Callable[[], WorkerProcess]


@pytest.fixture
def worker(tmp_path: Path, broker: EmbeddedBroker, name: str) -> Iterator[WorkerProcess]:
    made = WorkerProcess(
        tmp_path / "worker",
        port=free_port(),
        bootstrap_servers=broker.bootstrap_servers,
        properties={**own_topics(name), "spark.driver.memory": "700m"},
    )
    try:
        made.start()
        yield made
    finally:
        made.close()


def sql(expression: str, where: str) -> dict[str, str]:
    return {
        "transforms": "sql",
        "transforms.sql.type": "SparkSql",
        "transforms.sql.expression": expression,
        "transforms.sql.where": where,
    }


def test_a_source_of_a_worker_killed_in_the_middle_of_turns(
    worker: WorkerProcess, topics: Topics, name: str, tmp_path: Path
) -> None:
    file = tmp_path / "in.txt"
    file.write_text("".join(f"{number}\n" for number in range(LINES)))
    topics.create(name)
    config = {"connector.class": "FileStreamSource", "file": str(file), "topic": name}
    made = sql("CAST(value AS INT) * 10 AS value", "CAST(value AS INT) % 2 = 0")
    json = {"value.converter": "org.apache.kafka.connect.json.JsonConverter"}
    plain = {"value.converter.schemas.enable": "false"}
    worker.client.create(name, {**config, **made, **json, **plain})
    for part in (1, LINES // 6):
        eventually(lambda: topics.end(name) > part, within=180, every=0.02)  # noqa: B023 (called at once)
        worker.kill()
        assert topics.end(name) < LINES // 2, "it was killed too late to show anything"
        worker.start()
    size = file.stat().st_size
    eventually(
        lambda: [each["offset"]["position"] for each in worker.client.offsets(name)] == [size],
        within=240,
        what="the end of the file",
        every=0.5,
    )
    assert topics.values(name) == [str(number * 10) for number in range(0, LINES, 2)]


def test_a_sink_of_a_worker_killed_in_the_middle_of_turns(
    worker: WorkerProcess, topics: Topics, name: str, tmp_path: Path
) -> None:
    out = tmp_path / "out.txt"
    topics.create(name)
    topics.produce(name, (b"%d" % number for number in range(LINES)))
    config = {"connector.class": "FileStreamSink", "file": str(out), "topics": name}
    made = sql("concat(value, '-', offset) AS value", "CAST(value AS INT) % 2 = 0")
    worker.client.create(name, {**config, **made})
    for part in (0, LINES // 6):
        eventually(
            lambda: out.exists() and len(lines_of(out)) > part,  # noqa: B023 (called at once)
            within=180,
            every=0.02,
        )
        worker.kill()
        assert len(lines_of(out)) < LINES // 2, "it was killed too late to show anything"
        worker.start()
    ended = [entry(name, 0, topics.end(name))]
    eventually(
        lambda: in_group(topics, f"connect-{name}") == ended, within=240, what="the end", every=0.5
    )
    assert lines_of(out) == [f"{number}-{number}" for number in range(0, LINES, 2)]
