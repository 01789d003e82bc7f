"""A broker that goes away and comes back."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from free_ports import free_port
from penstock.embedded import EmbeddedBroker, Jars, Java
from topics import Topics, numbers_of
from waiting import eventually
from worker_process import WorkerProcess

FEW_LINES = 10
OF_CONNECTIONS = re.compile(
    r"answer|refused|[Dd]isconnect|timed out|transport|brokers are down|FAIL|REQTMOUT|Connect to"
)


def _freeze(broker: EmbeddedBroker) -> Callable[[], None]:
    os.kill(broker.pid, signal.SIGSTOP)
    return lambda: os.kill(broker.pid, signal.SIGCONT)


def _kill(broker: EmbeddedBroker) -> Callable[[], None]:
    broker.kill()
    return broker.start


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("leave", "seconds"),
    [
        pytest.param(_freeze, 5.0, id="frozen-5-s"),
        # Longer than the sessions of workers, and than Kafka's own of brokers.
        pytest.param(_freeze, 14.0, id="frozen-14-s"),
        pytest.param(_kill, 30.0, id="killed-30-s"),
        pytest.param(_kill, 300.0, id="killed-5-min"),
    ],
)
def test_a_broker_that_goes_away(
    tmp_path: Path,
    java: Java,
    jars: Jars,
    leave: Callable[[EmbeddedBroker], Callable[[], None]],
    seconds: float,
) -> None:
    """The worker carries on by itself and says so in a few lines; nothing is lost or repeated."""
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
            before_outage = len(worker.log().splitlines())

            come_back = leave(broker)
            gone = time.monotonic()
            try:
                eventually(lambda: not worker.answers(), what="the worker's notice")
                assert worker.client.status("source")["name"] == "source", "REST does not answer"
                away = lambda: time.monotonic() - gone > seconds  # noqa: E731 (one expression)
                eventually(away, within=seconds + 5, every=0.5)
            finally:
                come_back()

            before = len(topics.values("numbers"))
            eventually(lambda: len(topics.values("numbers")) > before + 50, within=90, every=1)
            eventually(worker.healthy, what="health")
            told = worker.log().splitlines()[before_outage:]
            about_it = [line for line in told if OF_CONNECTIONS.search(line)]
            assert len(about_it) <= FEW_LINES, "\n".join(about_it)
            # Connections to a frozen broker stay: clients notice it only after their own timeouts.
            assert leave is _freeze or any("does not answer" in line for line in about_it)
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
