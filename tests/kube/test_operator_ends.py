"""Operators that wait for each other, that have nothing to do, and that meet odd resources."""

from collections.abc import Callable
from pathlib import Path

import httpx

from kube_api import KubeServer
from kube_resources import Resources, apply_cluster, condition, message
from operator_process import OperatorProcess
from penstock.client import ConnectClient
from rest_between import RestBetween
from waiting import eventually
from worker_process import WorkerProcess

Start = Callable[..., OperatorProcess]
ROUNDS = "penstock_operator_rounds_total"


def test_one_of_two_operators_works_and_the_other_takes_over(
    kube: KubeServer, resources: Resources, source: dict, tmp_path: Path, name: str
) -> None:
    options = ("-n", resources.namespace, "--interval", "1")
    kubeconfig = _in_namespace(kube, resources.namespace, tmp_path)
    first = OperatorProcess(tmp_path / "first", kubeconfig, *options)
    second = OperatorProcess(tmp_path / "second", kubeconfig, *options)
    try:
        first.start()
        second.start(leading=False)
        resources.apply(resources.connector(name, source))
        resources.until_ready("kctr", name)
        assert second.get("/healthz").status_code == 200
        assert second.counted(ROUNDS) == 0
        assert first.stop() == 0
        eventually(lambda: "Watching" in second.output())
        eventually(lambda: second.counted(ROUNDS) > 0)
        resources.delete("kctr", name)
        first.start(leading=False)
        second.kill()
        eventually(lambda: "Watching" in first.output(), what="it takes a dead one's place")
    finally:
        first.close()
        second.close()


def _in_namespace(kube: KubeServer, namespace: str, folder: Path) -> Path:
    file = folder / "kubeconfig"
    file.write_text(kube.kubeconfig.read_text())
    kube.kubectl("config", "set-context", "--current", "--namespace", namespace, kubeconfig=file)
    return file


def test_an_operator_with_nothing_to_do_writes_nothing(
    resources: Resources, start_operator: Start, between: RestBetween, source: dict, name: str
) -> None:
    operator = start_operator(interval=0.3)
    resources.apply(resources.connector(name, source))
    resources.until_ready("kctr", name)
    rounds = operator.counted(ROUNDS)
    eventually(lambda: operator.counted(ROUNDS) > rounds + 2)
    version = resources.get("kctr", name)["metadata"]["resourceVersion"]
    writes = operator.kube_writes()
    asked = len(between.changes())
    rounds = operator.counted(ROUNDS)
    eventually(lambda: operator.counted(ROUNDS) > rounds + 5)
    assert operator.kube_writes() == writes
    assert resources.get("kctr", name)["metadata"]["resourceVersion"] == version
    assert len(between.changes()) == asked
    resources.delete("kctr", name)


def test_a_resource_whose_cluster_is_gone_can_be_deleted(
    resources: Resources, start_operator: Start, worker: WorkerProcess, source: dict, name: str
) -> None:
    start_operator()
    resources.apply(resources.connector(name, source))
    resources.until_ready("kctr", name)
    resources.kubectl("delete", "kafkaconnect", resources.cluster)
    resources.until("kctr", name, lambda r: "does not exist" in message(r, "Ready"))
    resources.delete("kctr", name)
    worker.client.delete(name)


def test_the_elder_of_two_alterations_comes_first(
    resources: Resources, start_operator: Start, idle_source: dict, file: Path, name: str
) -> None:
    entry = {"partition": f'{{"filename":"{file}"}}', "offset": '{"position":0}'}
    spec = {"connectorName": name, "sourceOffsets": [entry]}
    start_operator()
    resources.apply(resources.connector(name, idle_source))
    resources.until_ready("kctr", name)
    resources.apply(resources.offsets("a-elder", spec))
    resources.until_not_ready("kctro", "a-elder")
    resources.apply(resources.offsets("b-younger", spec))
    assert "a-elder" in resources.until_not_ready("kctro", "b-younger")
    resources.patch("kctr", name, state="stopped")
    resources.until_ready("kctro", "b-younger")
    assert condition(resources.get("kctro", "a-elder"), "Ready") == "True"
    resources.delete("kctr", name)


def test_odd_resources_are_told_what_to_do_and_harm_no_other(
    kube: KubeServer, resources: Resources, start_operator: Start, source: dict, name: str
) -> None:
    operator = start_operator()
    config = {"topic": name, "file": ["a", "b"]}
    resources.apply(resources.connector("lists", {**source, "config": config}))
    assert "spec.config: file" in resources.until_not_ready("kctr", "lists")
    sandbox = {"bootstrapServers": "k:1", "insecure": True}
    for odd, spec, words in (
        ("x" * 60, sandbox, "cannot name a deployment"),
        ("lots", {**sandbox, "resources": {"limits": {"memory": "lots"}}}, "quantities must match"),
        ("nowhere", {"url": "http://127.0.0.1:1"}, "No answer from the Connect cluster"),
    ):
        resources.apply(resources.manifest("KafkaConnect", odd, spec))
        assert words in resources.until_not_ready("kafkaconnect", odd)
    entry = {"partition": '{"a":1}', "offset": "[" * 10_000}
    resources.apply(resources.offsets("deep", {"connectorName": "c", "sourceOffsets": [entry]}))
    assert "sourceOffsets[0].offset is not JSON" in resources.until_not_ready("kctro", "deep")
    resources.apply(resources.connector(name, source))
    resources.until_ready("kctr", name)
    assert operator.get("/healthz").status_code == 200
    assert "Traceback" not in operator.output()
    resources.delete("kctr", name)


def test_a_fault_of_the_operator_is_told_and_ends_nothing(
    kube: KubeServer, resources: Resources, start_operator: Start, source: dict, name: str
) -> None:
    answers = RestBetween("", httpx.Client(base_url="http://nonsense", transport=_nonsense()))
    apply_cluster(kube, resources.namespace, answers.url, "nonsense")
    operator = start_operator()
    lost = Resources(kube, resources.namespace, "nonsense")
    lost.apply(lost.connector("lost", source))
    told = lost.until("kctr", "lost", lambda r: message(r, "Ready"))
    assert "see its log" in message(told, "Ready")
    resources.apply(resources.connector(name, source))
    resources.until_ready("kctr", name)
    assert operator.get("/healthz").status_code == 200
    resources.delete("kctr", name)
    answers.close()


def _nonsense() -> httpx.MockTransport:
    """A server that is no Connect worker at all, and answers everything with an empty object."""
    return httpx.MockTransport(lambda _: httpx.Response(200, json={}))


def test_only_connectors_with_a_resource_stay_where_that_is_wanted(
    kube: KubeServer,
    namespace: str,
    start_operator: Start,
    connect: ConnectClient,
    tmp_path: Path,
    name: str,
) -> None:
    resources = Resources(kube, namespace, "real")
    apply_cluster(kube, namespace, connect.url, "real")
    config = {
        "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
        "file": str(tmp_path / "none"),
        "topic": name,
    }
    connect.put_config("stranger", config)
    operator = start_operator(interval=0.5)
    spec = {"class": config["connector.class"], "config": {"file": "/none", "topic": name}}
    resources.apply(resources.connector(name, spec))
    resources.until_ready("kctr", name)
    rounds = operator.counted(ROUNDS, kind="KafkaConnect")
    eventually(lambda: operator.counted(ROUNDS, kind="KafkaConnect") > rounds + 2)
    assert "stranger" in connect.connectors()

    resources.annotate("kafkaconnect", "real", "strimzi.io/use-connector-resources=true")
    eventually(lambda: "stranger" not in connect.connectors())
    assert name in connect.connectors()
    assert "stranger was deleted: it has no KafkaConnector" in resources.kubectl("get", "events")

    resources.annotate("kafkaconnect", "real", "strimzi.io/pause-reconciliation=true")
    resources.until("kafkaconnect", "real", lambda r: condition(r, "ReconciliationPaused"))
    connect.put_config("stranger", config)
    rounds = operator.counted(ROUNDS, kind="KafkaConnect")
    eventually(lambda: operator.counted(ROUNDS, kind="KafkaConnect") > rounds + 2)
    assert "stranger" in connect.connectors()
    connect.delete("stranger")
    resources.delete("kctr", name)
