"""File → topic → file, exactly once."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path

import pytest

from files import digest, size_of, write_lines
from free_ports import free_port
from own_cluster import own_topics
from penstock.client import ConnectClient
from penstock.embedded import EmbeddedBroker
from topics import Topics
from waiting import eventually
from worker_process import WorkerProcess

LINES = 1_000_000
KILLS = 5


@pytest.mark.heavy
def test_a_million_lines_arrive_byte_for_byte(
    connectors: ConnectClient, topics: Topics, name: str, tmp_path: Path
) -> None:
    source, target = tmp_path / "in.txt", tmp_path / "out.txt"
    write_lines(source, LINES, 100)
    topics.create(name)
    _create_pair(connectors, name, source, target)
    eventually(lambda: size_of(target) >= size_of(source), within=120, what="the whole file")
    assert digest(target) == digest(source)
    assert _digest_of_topic(topics, name) == digest(source)


@pytest.mark.heavy
def test_a_million_lines_with_the_worker_killed_five_times(
    broker: EmbeddedBroker, topics: Topics, name: str, tmp_path: Path
) -> None:
    """SIGKILL at random places, while both source and sink are busy."""
    source, target = tmp_path / "in.txt", tmp_path / "out.txt"
    write_lines(source, LINES, 100)
    topics.create(name)
    worker = WorkerProcess(
        tmp_path / "worker",
        port=free_port(),
        bootstrap_servers=broker.bootstrap_servers,
        properties=own_topics(name),
    )
    try:
        worker.start()
        _create_pair(worker.client, name, source, target)
        marks = sorted(random.uniform(0.02, 0.95) for _ in range(KILLS))
        for mark in marks:
            bound = int(mark * size_of(source))
            eventually(lambda: size_of(target) >= bound, within=120, what=f"{mark:.0%}")  # noqa: B023 (asked at once)
            worker.kill()
            worker.start()
        eventually(lambda: size_of(target) >= size_of(source), within=120, what="the whole file")
        done = {"kafka_offset": topics.end(name)}
        eventually(lambda: _sink_offset(worker.client, name) == done, what="the last commit")
    finally:
        worker.close()
    assert _digest_of_topic(topics, name) == digest(source)
    assert digest(target) == digest(source)


def _create_pair(client: ConnectClient, name: str, source: Path, target: Path) -> None:
    client.create(
        f"{name}-source",
        {"connector.class": "FileStreamSource", "file": str(source), "topic": name},
    )
    client.create(
        f"{name}-sink", {"connector.class": "FileStreamSink", "file": str(target), "topics": name}
    )


def _sink_offset(client: ConnectClient, name: str) -> dict[str, int] | None:
    offsets = client.offsets(f"{name}-sink")
    return offsets[0]["offset"] if offsets else None


def _digest_of_topic(topics: Topics, topic: str) -> str:
    """The SHA-256 of the topic's committed records as lines."""
    seen = hashlib.sha256()
    for message in topics.messages(topic):
        seen.update((message.value() or b"") + b"\n")
    return seen.hexdigest()


def test_a_line_of_twenty_megabytes(
    connectors: ConnectClient, topics: Topics, name: str, tmp_path: Path
) -> None:
    """Longer than any buffer on the way."""
    source, target = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_bytes(b"before\n" + b"x" * 20_000_000 + b"\nafter\n")
    topics.create(name)
    _create_pair(connectors, name, source, target)
    eventually(lambda: size_of(target) >= size_of(source), what="the whole file")
    assert digest(target) == digest(source)
