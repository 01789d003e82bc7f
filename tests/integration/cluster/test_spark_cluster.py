"""A worker whose tasks run on a Spark cluster, and executors that die meanwhile."""

from __future__ import annotations

import signal
from functools import partial
from pathlib import Path

import psutil
import pytest

from clusters import Streams
from free_ports import free_port
from own_cluster import own_topics
from penstock.embedded import EmbeddedBroker, Java
from penstock.engine.carriers.carrier import Cause
from spark_cluster import SparkCluster, spark_cluster
from topics import Topics, numbers_of
from waiting import eventually
from worker_process import WorkerProcess

WAITS = "Waiting for a Spark executor since 20"
DYNAMIC = {
    "spark.dynamicAllocation.enabled": "true",
    "spark.dynamicAllocation.shuffleTracking.enabled": "true",
    "spark.dynamicAllocation.maxExecutors": "8",
    "spark.executor.cores": "1",
}
DECOMMISSIONING = {
    "spark.executor.cores": "2",
    "spark.cores.max": "4",
    "spark.decommission.enabled": "true",
    "spark.executor.decommission.forceKillTimeout": "2s",
}
FIFTY = set(range(50))
TRICKLE = {
    "connector.class": "ScriptedSource",
    "count": "1000000",
    "batch": "1",
    "pause.ms": "500",
}


@pytest.mark.heavy
@pytest.mark.crowd
def test_executors_die_and_nothing_is_lost_or_repeated(
    tmp_path: Path, broker: EmbeddedBroker, java: Java, topics: Topics, name: str
) -> None:
    streams = Streams(tmp_path, topics, [name])
    copy = tmp_path / "copy.txt"
    with spark_cluster(tmp_path, java) as spark:
        worker = _worker(tmp_path, broker, spark.address, name)
        try:
            worker.start()
            worker.client.create(f"{name}-source", streams.config(name))
            sink = {"connector.class": "FileStreamSink", "file": str(copy), "topics": name}
            worker.client.create(f"{name}-sink", sink)
            streams.start()
            for _ in range(3):
                _more_lines(copy)
                eventually(spark.executors, within=120, what="executors")[0].kill()
            _more_lines(copy)
            streams.deliver(lines := streams.stop())
            eventually(lambda: len(_lines(copy)) >= len(lines), what="the whole copy")
            assert _lines(copy) == lines
            states = worker.client.expanded("status").values()
            assert {entry["status"]["connector"]["state"] for entry in states} == {"RUNNING"}
        finally:
            worker.close()


@pytest.mark.heavy
@pytest.mark.crowd
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGPWR])
def test_fifty_leases_go_on_in_another_executor(
    tmp_path: Path,
    broker: EmbeddedBroker,
    java: Java,
    topics: Topics,
    name: str,
    how: signal.Signals,
) -> None:
    """Theirs is killed, or decommissioned by the signal for that: no task is blamed."""
    topics.create(name)
    with spark_cluster(tmp_path, java) as spark:
        worker = _worker(tmp_path, broker, spark.address, name, **DECOMMISSIONING)
        try:
            worker.start()
            worker.client.create(name, {**TRICKLE, "topic": name, "tasks.max": str(len(FIFTY))})
            eventually(lambda: _moving(topics, name) == FIFTY, within=180, what="all", every=0.5)
            carrier = _carrier(spark)
            (executor,) = (e for e in spark.executors() if e in carrier.parents())
            executor.send_signal(how)
            eventually(
                lambda: _moving(topics, name, but_in=carrier.pid) == FIFTY,
                within=60,
                what="all in another process",
                every=0.5,
            )
            assert str(Cause.CRASHED) not in worker.log()
            states = [task["state"] for task in worker.client.status(name)["tasks"]]
            assert states == ["RUNNING"] * len(FIFTY)
            worker.client.stop(name)
            values = topics.values(name)
            for task in FIFTY:
                numbers = numbers_of(values, task)
                assert numbers == list(range(len(numbers))), task
        finally:
            worker.close()


def _moving(topics: Topics, name: str, *, but_in: int = 0) -> set[int]:
    """The tasks of which records have come, from other processes than that one."""
    messages = topics.messages(name)
    return {
        int((m.value() or b"").split(b":")[0]) for m in messages if int(m.key() or b"0") != but_in
    }


@pytest.mark.heavy
@pytest.mark.crowd
def test_with_fewer_cores_than_carriers_everything_moves(
    tmp_path: Path, broker: EmbeddedBroker, java: Java, topics: Topics, name: str
) -> None:
    """One core, where dynamic allocation is told of eight: after its carrier has died, the leases
    of both connectors are to be kept apart, in two carriers, of which Spark starts only one."""
    streams = Streams(tmp_path, topics, [name])
    copy = tmp_path / "copy.txt"
    with spark_cluster(tmp_path, java, workers=1, cores=1) as spark:
        worker = _worker(tmp_path, broker, spark.address, name, **DYNAMIC)
        try:
            worker.start()
            worker.client.create(f"{name}-source", streams.config(name))
            sink = {"connector.class": "FileStreamSink", "file": str(copy), "topics": name}
            worker.client.create(f"{name}-sink", sink)
            streams.start()
            _more_lines(copy)
            _carrier(spark).kill()
            _more_lines(copy)
            streams.deliver(lines := streams.stop())
            eventually(lambda: len(_lines(copy)) >= len(lines), within=120, what="the whole copy")
            assert _lines(copy) == lines
        finally:
            worker.close()


@pytest.mark.heavy
@pytest.mark.crowd
def test_without_an_executor_everything_waits_and_says_so(
    tmp_path: Path, broker: EmbeddedBroker, java: Java, topics: Topics, name: str
) -> None:
    """A Spark that has a master and nobody else: that is no failure, however long."""
    streams = Streams(tmp_path, topics, [name])
    with spark_cluster(tmp_path, java, workers=0) as spark:
        worker = _worker(tmp_path, broker, spark.address, name)
        try:
            worker.start()
            worker.client.create(f"{name}-source", streams.config(name))
            streams.start()
            status = partial(worker.client.status, f"{name}-source")
            eventually(
                lambda: WAITS in status()["connector"].get("trace", ""),
                within=120,
                what="a status that says what it waits for",
            )
            told = status()
            assert [each["state"] for each in (told["connector"], *told["tasks"])] == [
                "RUNNING"
            ] * 2
            spark.add(1)
            streams.deliver(streams.stop())
            eventually(lambda: "trace" not in status()["connector"], what="a status without remark")
        finally:
            worker.close()


def _carrier(spark: SparkCluster) -> psutil.Process:
    """The Python process in which the leases run: by far the most threads."""
    below = [child for each in spark.executors() for child in each.children(recursive=True)]
    return max(below, key=psutil.Process.num_threads)


def _worker(
    folder: Path, broker: EmbeddedBroker, master: str, name: str, **more: str
) -> WorkerProcess:
    return WorkerProcess(
        folder / "worker",
        port=free_port(),
        bootstrap_servers=broker.bootstrap_servers,
        properties={
            **own_topics(name),
            "spark.master": master,
            "spark.driver.host": "127.0.0.1",
            "spark.driver.memory": "512m",
            "spark.executor.memory": "512m",
            **(more or {"spark.executor.cores": "2", "spark.cores.max": "4"}),
        },
    )


def _more_lines(copy: Path) -> None:
    """Wait until more has arrived than there is now."""
    before = len(_lines(copy))
    eventually(lambda: len(_lines(copy)) > before, within=120, what="more lines")


def _lines(copy: Path) -> list[str]:
    return copy.read_text().splitlines() if copy.exists() else []
