"""A broker that goes away and comes back."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from free_ports import free_port
from penstock.embedded import EmbeddedBroker, Jars, Java
from topics import Topics, numbers_of
from waiting import eventually
from worker_process import WorkerProcess

OUTAGE = 30.0


@pytest.mark.heavy
def test_a_broker_that_goes_away_for_30_s(tmp_path: Path, java: Java, jars: Jars) -> None:
    """The worker carries on by itself; nothing is lost or repeated."""
    limit = tmp_path / "limit"
    limit.write_text("100000")
    out = tmp_path / "out.txt"
    with EmbeddedBroker(tmp_path / "kafka", java, jars) as broker:
        topics = Topics(broker.bootstrap_servers)
        topics.create("numbers")
        worker = WorkerProcess(
            tmp_path / "worker", port=free_port(), bootstrap_servers=broker.bootstrap_servers
        )
        try:
            worker.start()
            config = {"limit.file": str(limit), "batch": "5", "pause.ms": "50"}
            worker.client.create(
                "source", {"connector.class": "ScriptedSource", "topic": "numbers", **config}
            )
            worker.client.create(
                "sink", {"connector.class": "FileStreamSink", "topics": "numbers", "file": str(out)}
            )
            eventually(
                lambda: out.exists() and out.read_text().count("\n") > 50,
                within=180,
                what="records",
            )

            broker.kill()
            gone = time.monotonic()
            eventually(lambda: not worker.answers(), what="the worker's notice")
            assert worker.client.status("source")["name"] == "source", "REST does not answer"
            eventually(lambda: time.monotonic() - gone > OUTAGE, within=OUTAGE + 5, every=1)
            broker.start()

            before = len(topics.values("numbers"))
            eventually(lambda: len(topics.values("numbers")) > before + 50, within=90, every=1)
            eventually(worker.healthy, what="health")
            limit.write_text("0")
            _assert_exact(topics, out)
        finally:
            worker.close()


def _assert_exact(topics: Topics, out: Path) -> None:
    def settled() -> bool:
        values = topics.values("numbers")
        return bool(values) and out.read_text().splitlines() == values

    eventually(settled, what="sink and topic to agree", every=1)
    numbers = numbers_of(topics.values("numbers"), 0)
    assert numbers == list(range(len(numbers)))
