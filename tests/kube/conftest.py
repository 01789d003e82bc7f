"""One API server, one broker, one worker and one Kafka Connect per run; a namespace per test."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.connect_jars import ensure_connect_jars
from bench.kafka_connect import start_kafka_connect
from free_ports import free_port
from kube_api import GoMissing, KubeServer, kube_server
from kube_resources import CLUSTER, Resources, apply_cluster
from operator_process import OperatorProcess
from penstock.client import ConnectClient
from penstock.embedded import EmbeddedBroker, Jars, Java
from penstock.operator.crds import crds
from penstock.operator.manifests import user_roles
from rest_between import RestBetween
from topics import Topics
from worker_process import WorkerProcess

Json = dict[str, Any]
_count = itertools.count()


@pytest.fixture(scope="session")
def kube(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KubeServer]:
    """The API server of this run, with the three kinds."""
    try:
        with kube_server(tmp_path_factory.mktemp("kube")) as server:
            for manifest in (*crds(), *user_roles()):
                server.api.apply(manifest)
            names = [f"crd/{manifest['metadata']['name']}" for manifest in crds()]
            server.kubectl("wait", "--for=condition=Established", *names, "--timeout=30s")
            yield server
    except GoMissing:
        reason = "Go is missing, with which the API server is built: install Go 1.24 or newer"
        if os.environ.get("PENSTOCK_NO_SKIP"):
            pytest.fail(reason)
        pytest.skip(reason)


@pytest.fixture(scope="session")
def worker(
    tmp_path_factory: pytest.TempPathFactory, broker: EmbeddedBroker
) -> Iterator[WorkerProcess]:
    """A real Penstock worker. What these tests ask of it needs no Spark."""
    process = WorkerProcess(
        tmp_path_factory.mktemp("kube-worker"),
        port=free_port(),
        bootstrap_servers=broker.bootstrap_servers,
        properties={"group.id": "kube"},
    )
    try:
        process.start()
        yield process
    finally:
        process.close()


@pytest.fixture(scope="session")
def connect(
    tmp_path_factory: pytest.TempPathFactory, broker: EmbeddedBroker, java: Java, jars: Jars
) -> Iterator[ConnectClient]:
    """Real Kafka Connect, the newest."""
    class_path = f"{ensure_connect_jars(java, lambda _: None)}/*:{jars.broker}/*"
    folder, servers = tmp_path_factory.mktemp("connect"), broker.bootstrap_servers
    often = {"offset.flush.interval.ms": "500"}
    with start_kafka_connect(
        folder, "kube-connect", servers, java, class_path, properties=often
    ) as made:
        yield made.client


@pytest.fixture
def own_kube(kube: KubeServer, tmp_path: Path) -> Iterator[KubeServer]:
    """An API server of the test's own, without our kinds: those are the same in all namespaces."""
    folder = tmp_path / "kube"
    folder.mkdir()
    with kube_server(folder) as server:
        yield server


@pytest.fixture
def namespace(kube: KubeServer, request: pytest.FixtureRequest) -> str:
    """A namespace that no other test uses."""
    base = re.sub(r"[^a-z0-9]+", "-", request.node.name.lower()).strip("-")[:40].strip("-")
    name = f"{base}-{next(_count)}"
    kube.kubectl("create", "namespace", name)
    return name


@pytest.fixture
def cluster(kube: KubeServer, namespace: str, worker: WorkerProcess) -> str:
    """A KafkaConnect of the namespace: the worker of this run."""
    apply_cluster(kube, namespace, worker.url)
    return CLUSTER


@pytest.fixture
def start_operator(
    kube: KubeServer, namespace: str, tmp_path: Path
) -> Iterator[Callable[..., OperatorProcess]]:
    """Starts operators for the namespace; they end with the test."""
    started: list[OperatorProcess] = []

    def start(*options: str, interval: float = 1.0, **more: Any) -> OperatorProcess:
        where = ("-n", namespace, "--no-leader-election", "--interval", str(interval))
        kubeconfig = more.pop("kubeconfig", kube.kubeconfig)
        folder = tmp_path / f"operator-{len(started)}"
        process = OperatorProcess(folder, kubeconfig, *where, *options, **more)
        started.append(process)
        process.start()
        return process

    yield start
    for process in started:
        process.close()


@pytest.fixture
def between(kube: KubeServer, resources: Resources, worker: WorkerProcess) -> Iterator[RestBetween]:
    """Stands between the operator and the worker."""
    made = RestBetween(worker.url)
    apply_cluster(kube, resources.namespace, made.url)
    yield made
    made.close()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Two lines of four bytes."""
    made = tmp_path / "in.txt"
    made.write_text("one\ntwo\n")
    return made


@pytest.fixture
def source(name: str, file: Path) -> dict[str, Any]:
    """The spec of a source that is stopped."""
    config = {"file": str(file), "topic": name}
    return {"class": "FileStreamSource", "tasksMax": 1, "config": config, "state": "stopped"}


@pytest.fixture
def idle_source(source: dict[str, Any], file: Path) -> dict[str, Any]:
    """The spec of a source that runs and has nothing to read, so that it needs no Spark."""
    file.write_text("")
    return {**source, "state": "running"}


@pytest.fixture
def sink(name: str, topics: Topics, tmp_path: Path) -> dict[str, Any]:
    """The spec of a sink that is stopped, of a topic with three records."""
    topics.create(name, 1)
    topics.produce(name, [b"a", b"b", b"c"])
    config = {"file": str(tmp_path / "out.txt"), "topics": name}
    return {"class": "FileStreamSink", "tasksMax": 1, "config": config, "state": "stopped"}


@pytest.fixture
def resources(kube: KubeServer, namespace: str, cluster: str) -> Resources:
    """The resources of the test's namespace."""
    return Resources(kube, namespace, cluster)
