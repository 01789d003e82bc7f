"""Secrets: of connectors, which a worker hides, and of workers that want to know who asks."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from certificates import make_authority, make_certificate
from free_ports import free_port
from kube_api import KubeServer
from kube_resources import Resources, message
from operator_process import OperatorProcess
from own_cluster import own_topics
from penstock.client import ConnectClient, Credentials
from penstock.embedded import EmbeddedBroker
from penstock.rest.access.hashed_secrets import hashed
from rest_between import RestBetween
from waiting import eventually
from worker_process import WorkerProcess

Start = Callable[..., OperatorProcess]
SECRET = "a secret of some length"
ROUNDS = "penstock_operator_rounds_total"


def test_a_hidden_password_is_sent_once_and_again_only_when_it_changes(
    resources: Resources,
    start_operator: Start,
    between: RestBetween,
    worker: WorkerProcess,
    name: str,
) -> None:
    operator = start_operator(interval=0.3)
    spec = {"class": "ScriptedSource", "state": "stopped"}
    config = {"topic": name, "password": "one secret"}
    resources.apply(resources.connector(name, {**spec, "config": config}))
    resources.until_ready("kctr", name)
    assert worker.client.config(name)["password"] == "[hidden]"
    rounds = operator.counted(ROUNDS)
    eventually(lambda: operator.counted(ROUNDS) > rounds + 3)
    assert between.count("PUT", "/config") == 0

    config = {**config, "password": "another secret"}
    resources.apply(resources.connector(name, {**spec, "config": config}))
    eventually(lambda: between.count("PUT", "/config") == 1)
    resources.until_ready("kctr", name)
    assert between.count("PUT", "/config") == 1
    assert "another secret" not in operator.output()
    resources.delete("kctr", name)


@pytest.fixture
def guarded(tmp_path: Path, name: str, broker: EmbeddedBroker) -> Iterator[WorkerProcess]:
    """A worker with users and TLS."""
    own = make_certificate(tmp_path, "worker", make_authority(tmp_path, "authority"))
    (tmp_path / "users").write_text(f"operator:operate:{hashed(SECRET)}\n")
    properties = {
        **own_topics(name),
        "rest.auth.users.file": str(tmp_path / "users"),
        "rest.ssl.certificate.file": str(own.certificate),
        "rest.ssl.key.file": str(own.key),
    }
    process = WorkerProcess(
        tmp_path / "guarded",
        port=free_port(),
        bootstrap_servers=broker.bootstrap_servers,
        properties=properties,
    )
    process.url = process.url.replace("http:", "https:")
    trusted = str(tmp_path / "authority.crt")
    token = f"operator.{SECRET}"
    credentials = Credentials(token=token, ca_file=trusted)
    process.client = ConnectClient(process.url, credentials=credentials)
    process.start()
    yield process
    process.close()
    process.client.close()


def test_a_guarded_worker_is_asked_with_what_a_secret_holds(
    kube: KubeServer,
    namespace: str,
    start_operator: Start,
    guarded: WorkerProcess,
    tmp_path: Path,
    name: str,
) -> None:
    operator = start_operator()
    resources = Resources(kube, namespace, "guarded")
    cluster = {"url": guarded.url, "credentialsSecret": "rest"}
    resources.apply(resources.manifest("KafkaConnect", "guarded", cluster))
    spec = {"class": "FileStreamSource", "state": "stopped", "config": {"file": "/f", "topic": "t"}}
    resources.apply(resources.connector(name, spec))
    told = resources.until("kctr", name, lambda r: message(r, "Ready"))
    assert f"Secret {namespace}/rest" in message(told, "Ready")
    resources.kubectl(
        *("create", "secret", "generic", "rest", f"--from-literal=token=operator.{SECRET}"),
        f"--from-file=ca.crt={tmp_path / 'authority.crt'}",
    )
    resources.until_ready("kctr", name)
    resources.until_ready("kafkaconnect", "guarded")
    assert name in guarded.client.connectors()
    assert SECRET not in operator.output()
    resources.delete("kctr", name)
    assert name not in guarded.client.connectors()
