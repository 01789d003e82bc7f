"""Spark's own sources and sinks, in the session of the run's worker."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from free_ports import free_port
from own_cluster import own_topics
from penstock.embedded import EmbeddedBroker
from penstock.kafka.clients import Connection
from penstock.runtime.worker import Worker
from topics import Topics
from worker_process import WorkerProcess

ROOT = Path(__file__).parents[3]


@pytest.fixture
def spark(worker: Worker) -> SparkSession:
    return worker.herder._context.engine.session.get()


@pytest.fixture
def connection(broker: EmbeddedBroker) -> Connection:
    return Connection(broker.bootstrap_servers)


@pytest.fixture
def topic(topics: Topics, name: str) -> str:
    """Two partitions: 0 to 5, then an aborted transaction; 100 to 103."""
    topics.create(name, 2)
    topics.produce(name, [b"%d" % n for n in range(6)])
    topics.produce(name, [b"aborted"], abort=True)
    topics.produce(name, [b"%d" % n for n in range(100, 104)], partition=1)
    return name


@pytest.fixture
def read(spark: SparkSession, broker: EmbeddedBroker) -> Callable[..., DataFrame]:
    """``format("penstock")``, on the run's brokers where a topic is read."""

    def read(**options: Any) -> DataFrame:
        brokers = {"kafka.bootstrap.servers": broker.bootstrap_servers}
        given = {**brokers, **options} if "topic" in options else options
        return spark.read.format("penstock").options(**given).load()

    return read


@pytest.fixture
def start(
    tmp_path: Path, broker: EmbeddedBroker, name: str
) -> Iterator[Callable[..., WorkerProcess]]:
    """Starts a worker in a process of its own; on the second call one that goes on after it."""
    made: list[WorkerProcess] = []

    def start(**properties: str) -> WorkerProcess:
        given = {key.replace("_", "."): value for key, value in properties.items()}
        worker = WorkerProcess(
            tmp_path / "worker",
            port=free_port(),
            bootstrap_servers=broker.bootstrap_servers,
            properties={**own_topics(name), "spark.driver.memory": "700m", **given},
        )
        made.append(worker)
        worker.start()
        return worker

    yield start
    for worker in made:
        worker.close()


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package as it is built and installed."""
    source, place = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("installed")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        if (ROOT / name).exists():
            shutil.copy(ROOT / name, source)
    shutil.copytree(
        ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
    )
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(place)]
    subprocess.run([*build, str(source)], check=True, capture_output=True)
    (wheel,) = place.glob("*.whl")
    shutil.unpack_archive(wheel, place, "zip")
    return place
