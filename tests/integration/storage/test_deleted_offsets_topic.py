"""The offsets topic is deleted under a live worker: nothing is lost that is exported in time."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from free_ports import free_port
from own_cluster import own_topics
from penstock.embedded import EmbeddedBroker
from raw_records import read_records
from topics import Topics
from worker_process import WorkerProcess


@pytest.fixture
def up(tmp_path: Path, broker: EmbeddedBroker, name: str) -> Iterator[WorkerProcess]:
    """A worker with topics of its own."""
    process = WorkerProcess(
        tmp_path,
        port=free_port(),
        bootstrap_servers=broker.bootstrap_servers,
        properties=own_topics(name),
    )
    yield process
    process.close()


def penstock(up: WorkerProcess, *arguments: str) -> str:
    """Run a command as its user would; what it prints."""
    command = [sys.executable, "-m", "penstock", *arguments, "--url", up.url]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


@pytest.mark.heavy
def test_offsets_are_listed_from_memory_exported_and_restored(
    up: WorkerProcess, topics: Topics, name: str, tmp_path: Path
) -> None:
    topic = own_topics(name)["offset.storage.topic"]
    config = {"connector.class": "FileStreamSource", "file": "lines.txt", "topic": name}
    offsets = [{"partition": {"filename": "lines.txt"}, "offset": {"position": 42}}]
    up.start()
    up.client.create(name, config, "STOPPED")
    up.client.alter_offsets(name, offsets)
    [stored] = read_records(topics, topic)

    topics.delete(topic)
    assert up.client.offsets(name) == offsets
    exported = tmp_path / "offsets.json"
    exported.write_text(penstock(up, "get", "offsets", name, "-o", "json"))

    up.stop()
    up.start()
    assert up.client.offsets(name) == []
    assert read_records(topics, topic) == []
    penstock(up, "patch", "offsets", name, "-f", str(exported))
    assert up.client.offsets(name) == offsets
    assert read_records(topics, topic) == [stored]
