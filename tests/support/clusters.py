"""Several workers as one cluster, and growing files that they read."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from files import lines_of
from free_ports import free_port
from own_cluster import own_topics
from penstock.client import ConnectClient, ConnectError
from topics import Topics
from waiting import eventually
from worker_process import WorkerProcess

SETTLED_WITHIN = 120.0
LEAST_LINES = 100


def workers_of(
    folder: Path, bootstrap_servers: str, group: str, count: int, session_ms: int = 6000
) -> list[WorkerProcess]:
    """Workers of one group, not started; one that dies is missed after ``session_ms``."""
    return [
        WorkerProcess(
            folder / f"worker-{number}",
            port=free_port(),
            bootstrap_servers=bootstrap_servers,
            properties={
                **own_topics(group),
                "session.timeout.ms": str(session_ms),
                "lease.max.ms": "8000",
                "spark.master": "local[4]",
                "spark.driver.memory": "512m",
            },
        )
        for number in range(count)
    ]


@contextmanager
def running(workers: list[WorkerProcess]) -> Iterator[list[WorkerProcess]]:
    """The workers, started; ended with the block."""
    try:
        for worker in workers:
            worker.start(within=120)
        yield workers
    finally:
        for worker in workers:
            worker.close()


def owners(client: ConnectClient) -> dict[str, str]:
    """The worker of each connector that runs."""
    found = client.expanded("status")
    return {
        name: entry["status"]["connector"]["worker_id"]
        for name, entry in found.items()
        if entry["status"]["connector"]["state"] == "RUNNING"
    }


def is_balanced(client: ConnectClient, connectors: int, workers: list[WorkerProcess]) -> bool:
    """Whether all run, on these workers alone, and none has more than one more than another."""
    found = owners(client)
    load = Counter(found.values())
    ids = {worker.url.removeprefix("http://") for worker in workers}
    counts = [load[worker] for worker in ids]
    return len(found) == connectors and set(load) <= ids and max(counts) - min(counts) <= 1


def settled(client: ConnectClient, connectors: int, workers: list[WorkerProcess]) -> None:
    """Wait until the cluster is balanced."""

    def balanced() -> bool:
        try:
            return is_balanced(client, connectors, workers)
        except ConnectError:
            return False

    eventually(balanced, within=SETTLED_WITHIN, what=f"{connectors} connectors, balanced")


class Streams:
    """Files that grow line by line, a topic for each, until told to stop."""

    def __init__(self, folder: Path, topics: Topics, names: list[str]) -> None:
        self._files = {name: folder / f"{name}.txt" for name in names}
        self._topics = topics
        self._written = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)
        for name, file in self._files.items():
            topics.create(name)
            file.touch()

    def config(self, name: str) -> dict[str, str]:
        """The configuration of the source that reads a file into its topic."""
        return {
            "connector.class": "FileStreamSource",
            "tasks.max": "1",
            "file": str(self._files[name]),
            "topic": name,
        }

    def sink(self, name: str) -> dict[str, str]:
        """The configuration of a sink that writes a topic into a file again."""
        return {
            "connector.class": "FileStreamSink",
            "tasks.max": "1",
            "topics": name,
            "file": str(self._copy(name)),
        }

    def _copy(self, name: str) -> Path:
        return self._files[name].with_suffix(".copy")

    def start(self) -> None:
        """Let the files grow."""
        self._thread.start()

    def stop(self) -> list[str]:
        """Let them grow no more; the lines that each must have delivered in the end."""
        eventually(lambda: self._written >= LEAST_LINES, what="some lines")
        self._stop.set()
        self._thread.join()
        return [str(number) for number in range(self._written)]

    def _write(self) -> None:
        while not self._stop.wait(0.02):
            for file in self._files.values():
                with file.open("a") as out:
                    out.write(f"{self._written}\n")
            self._written += 1

    def deliver(self, lines: list[str], within: float = 90.0) -> None:
        """Wait until every topic has as many records; then they must be just these, in order."""
        for name in self._files:
            eventually(
                lambda name=name: (
                    self._topics.end(name) >= len(lines)  # type: ignore[misc]  # mypy: a lambda with a default
                    and len(self._topics.values(name)) >= len(lines)
                ),
                within=within,
                what=f"{len(lines)} records in {name}",
                every=0.5,
            )
            assert self._topics.values(name) == lines, name

    def copied(self, name: str, lines: list[str], within: float = 90.0) -> None:
        """Wait until the sink has written as many lines; then they must be just these, in order."""
        copy = self._copy(name)
        eventually(
            lambda: len(lines_of(copy)) >= len(lines),
            within=within,
            what=f"{len(lines)} lines in {copy}",
            every=0.5,
        )
        assert lines_of(copy) == lines
