"""A worker in a process of its own, which misbehaving connectors must not bring down."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from free_ports import free_port
from own_cluster import own_topics
from sample_connectors.misbehaving import PATIENCE
from topics import Topics
from worker_process import WorkerProcess

NAME = "misbehaving"


@pytest.fixture(scope="module")
def victim(tmp_path_factory: pytest.TempPathFactory, topics: Topics) -> Iterator[WorkerProcess]:
    """A worker that is impatient with what does not come back."""
    worker = WorkerProcess(
        tmp_path_factory.mktemp(NAME),
        port=free_port(),
        bootstrap_servers=topics.bootstrap_servers,
        properties={
            **own_topics(NAME),
            "lease.max.ms": "3000",
            "turn.grace.ms": "3000",
            "spark.master": "local[8]",
            "spark.driver.memory": "512m",
        },
        # Long enough for a process to start that checks configurations.
        environment={PATIENCE: "15"},
    )
    worker.start()
    yield worker
    # Whatever was left behind in it: it ends when it is told to.
    worker.stop()


@pytest.fixture
def release(tmp_path: Path) -> Iterator[Path]:
    """The file that ends all misbehaviour; it is there at the end of the test in any case."""
    file = tmp_path / "release"
    yield file
    file.touch()
