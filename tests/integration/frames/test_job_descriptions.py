"""Every job of a worker says in Spark's UI what it is of."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from free_ports import free_port
from own_cluster import own_topics
from penstock.embedded import EmbeddedBroker
from rest_sql import RestSql
from sink_offsets import entry, in_group
from topics import Topics
from waiting import eventually
from worker_process import WorkerProcess

pytestmark = pytest.mark.heavy
MANY = 6_000
"""More than may pass through the worker."""


@pytest.fixture
def ui() -> str:
    return f"http://127.0.0.1:{free_port()}/api/v1/applications"


@pytest.fixture
def worker(tmp_path: Path, broker: EmbeddedBroker, name: str, ui: str) -> Iterator[WorkerProcess]:
    shown = {"spark.ui.enabled": "true", "spark.ui.port": str(httpx.URL(ui).port)}
    made = WorkerProcess(
        tmp_path / "worker",
        port=free_port(),
        bootstrap_servers=broker.bootstrap_servers,
        properties={**own_topics(name), "spark.driver.memory": "700m", **shown},
    )
    made.start()
    yield made
    made.close()


def test_every_job_has_a_description(
    worker: WorkerProcess, topics: Topics, name: str, ui: str, tmp_path: Path
) -> None:
    """Carriers, turns into Kafka and into files, and queries."""
    for topic in (name, f"{name}-out", f"{name}-lines"):
        topics.create(topic)
    topics.produce(name, (b'{"N": %d}' % n for n in range(MANY)))
    lines = tmp_path / "lines.txt"
    lines.write_text("one\n")
    own = {"topics": name}
    configs = {
        "source": {
            "connector.class": "FileStreamSource",
            "file": str(lines),
            "topic": f"{name}-lines",
        },
        "framed": {**own, "connector.class": "Framed", "output": f"{name}-out"},
        "files": {**own, "connector.class": "SparkSink", "path": str(tmp_path / "out")},
    }
    for kind, config in configs.items():
        worker.client.create(f"{name}-{kind}", config)
    for kind in ("framed", "files"):
        group, end = f"connect-{name}-{kind}", [entry(name, 0, topics.end(name))]
        eventually(lambda: in_group(topics, group) == end, within=180, what=f"all of {kind}")  # noqa: B023 (called at once)
    eventually(lambda: topics.values(f"{name}-lines") == ["one"], within=120, what="the line")
    RestSql(worker)(f"CREATE STREAM s (n INT) WITH (KAFKA_TOPIC='{name}', VALUE_FORMAT='JSON');")
    asked = {"ksql": "SELECT COUNT(*) FROM s;"}
    assert str(MANY) in httpx.post(f"{worker.url}/query", json=asked, timeout=180).text
    # Spark loads what answers when it is first asked.
    (application,) = httpx.get(ui, timeout=120).json()
    jobs = httpx.get(f"{ui}/{application['id']}/jobs", timeout=120).json()
    described = [job.get("description", "") for job in jobs]
    assert all(described), jobs
    for expected in (
        f"{name}-framed: a turn over {MANY + 1} offsets of {name}",
        f"{name}-files: turn e",
        f"SQL: a query of {name}",
        "carrier",
    ):
        assert any(expected in each for each in described), (expected, described)
