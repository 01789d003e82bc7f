"""`penstock deploy` on a real API server, and KafkaConnect resources that do the same.

There is no kubelet: no pod runs, and a Service's address leads nowhere. Where a worker is asked
through its Service, that address alone is mapped to a real worker (tests/support/forward_proxy.py).
"""

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from commands import Commands, Outcome
from forward_proxy import ForwardProxy
from kube_api import SCRIPT, KubeServer
from kube_resources import Resources, message
from operator_process import OperatorProcess
from penstock.client import layer
from worker_process import WorkerProcess

Start = Callable[..., OperatorProcess]
K8S = "k8s://https://kubernetes.default.svc"
SAFE = ("--users-secret", "users", "--tls-secret", "tls")
VARIANTS: dict[str, tuple[str, ...]] = {
    "sandbox": ("--insecure",),
    "safe": SAFE,
    "storage": (*SAFE, "--storage", "1Gi", "--secret", "db", "--workers", "3"),
    "spark": (*SAFE, "--spark-master", K8S, "--executor-instances", "4"),
    "no-workers": ("--insecure", "--workers", "0", "--topics", "a,b"),
}


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which the layers tell each other things."""
    file = tmp_path / "layer.json"
    monkeypatch.setenv("PENSTOCK_LAYER_STATE", str(file))
    return file


@pytest.fixture
def run(
    kube: KubeServer,
    namespace: str,
    state: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> Callable[..., Outcome]:
    """`penstock deploy ... app -n <namespace>`."""
    monkeypatch.setenv("KUBECONFIG", str(kube.kubeconfig))
    commands = Commands("kafka:9092", monkeypatch, capfdbinary)
    return lambda verb, *rest: commands("deploy", verb, "app", "-n", namespace, *rest)


def objects(kube: KubeServer, namespace: str) -> set[str]:
    kinds = "sa,cm,svc,deploy,sts,pdb,netpol,role,rolebinding"
    listed = kube.json("-n", namespace, "get", kinds, "-l", "app.kubernetes.io/instance=app")
    return {f"{item['kind']}/{item['metadata']['name']}" for item in listed["items"]}


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_variant_is_taken_strictly(
    kube: KubeServer, run: Callable[..., Outcome], variant: str
) -> None:
    rendered = run("render", *VARIANTS[variant])
    assert rendered.code == 0, rendered.err
    kube.kubectl(*("apply", "--dry-run=server", "--validate=strict", "-f", "-"), stdin=rendered.out)


def test_a_deployment_from_first_to_last(
    kube: KubeServer, namespace: str, run: Callable[..., Outcome]
) -> None:
    assert objects(kube, namespace) == set()
    before = run("diff", "--insecure", "--workers", "2")
    assert before.code == 1
    assert "+  replicas: 2" in before.out
    assert objects(kube, namespace) == set()

    made = run("apply", "--insecure", "--workers", "2", "--worker-config", "a=b\nc=d")
    assert "Deployment/app-connect created" in made.out, made.err
    assert objects(kube, namespace) == {
        "ServiceAccount/app-connect",
        "ConfigMap/app-connect",
        "Service/app-connect",
        "Service/app-connect-api",
        "NetworkPolicy/app-connect",
        "PodDisruptionBudget/app-connect",
        "Deployment/app-connect",
    }
    again = run("apply", "--insecure", "--workers", "2", "--worker-config", "a=b\nc=d")
    assert {line.rpartition(" ")[2] for line in again.lines} == {"unchanged"}
    same = run("diff", "--insecure", "--workers", "2", "--worker-config", "a=b\nc=d")
    assert (same.code, same.out) == (0, "")

    assert "scaled to 5" in run("scale", "--workers", "5").out
    shown = run("status").out
    assert "0/5" in shown
    service = kube.json("-n", namespace, "get", "svc", "app-connect-api")["spec"]["clusterIP"]
    assert f"{service}:8083" in shown
    assert layer.get_worker_service() == f"{service}:8083"

    moved = run("apply", *SAFE)
    assert "StatefulSet/app-connect created" in moved.out
    assert "Deployment/app-connect deleted" in moved.out
    run("delete")
    assert objects(kube, namespace) == set()
    assert "There is no deployment app" in run("delete").out
    assert "`penstock deploy apply` makes one" in run("status").err


def test_pods_beyond_loopback_want_users_and_tls(run: Callable[..., Outcome]) -> None:
    assert "--insecure for a sandbox" in run("render").err


def test_an_upper_layers_config_and_image_are_deployed(
    kube: KubeServer, namespace: str, run: Callable[..., Outcome]
) -> None:
    layer.set_worker_config({"key.converter": "Json", "a": "upper"})
    layer.set_base_image("mine:7")
    run("apply", "--insecure", "--worker-config", "a=override")
    config = kube.json("-n", namespace, "get", "cm", "app-connect")["data"]["worker.properties"]
    assert "a=override\n" in config
    assert "key.converter=Json\n" in config
    pod = kube.json("-n", namespace, "get", "deploy", "app-connect")["spec"]["template"]["spec"]
    assert pod["containers"][0]["image"] == "mine:7"


@pytest.fixture
def proxy(
    kube: KubeServer, namespace: str, worker: WorkerProcess, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str], ForwardProxy]]:
    """Maps a Service's address to the worker of this run."""
    made: list[ForwardProxy] = []

    def lead(address: str) -> ForwardProxy:
        made.append(ForwardProxy({address: worker.url}))
        for key, value in made[0].environment().items():
            monkeypatch.setenv(key, value)
        return made[0]

    yield lead
    for each in made:
        each.close()


def test_the_helper_functions_find_the_workers_by_their_service(
    run: Callable[..., Outcome],
    proxy: Callable[[str], ForwardProxy],
    worker: WorkerProcess,
    tmp_path: Path,
    name: str,
) -> None:
    run("apply", "--insecure", "--topics", name)
    service = layer.get_worker_service()
    assert service is not None
    proxy(service)
    config = {"connector.class": "FileStreamSink", "file": str(tmp_path / "out"), "tasks.max": 1}
    made = layer.register_connector(config, name)
    assert made is not None
    assert made.status_code == 201
    assert worker.client.config(name)["topics"] == name
    again = layer.register_connector({**config, "topics": name}, name)
    assert again is not None
    assert again.status_code == 200
    assert layer.list_connectors() == (200, worker.client.connectors())
    assert layer.unregister_connector(name) == (204, None)


def test_a_kustomize_folder_and_a_chart_hold_the_same(
    kube: KubeServer, namespace: str, run: Callable[..., Outcome], tmp_path: Path
) -> None:
    folder, chart = tmp_path / "kustomize", tmp_path / "chart"
    run("render", *SAFE, "--kustomize", str(folder))
    kube.kubectl("apply", "-k", str(folder), "--dry-run=server", "--validate=strict")
    run("render", *SAFE, "--helm", str(chart), "--worker-config", "a=b")
    helm = subprocess.run(
        [str(SCRIPT), "helm"], stdout=subprocess.PIPE, text=True, check=True
    ).stdout.strip()
    options = ("--set", "workers=4", "--set", "image=mine:1", "--set", "workerConfig.x=y")
    made = subprocess.run(
        [helm, "template", "rel", str(chart), "-n", namespace, *options],
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    for words in ("replicas: 4", "image: mine:1", "group.id=rel", "x=y", "a=b"):
        assert words in made.stdout
    assert "helm" not in made.stdout.replace("managed-by: Helm", "")
    kube.kubectl(
        *("apply", "-n", namespace, "--dry-run=server", "--validate=strict", "-f", "-"),
        stdin=made.stdout,
    )
    lint = subprocess.run([helm, "lint", str(chart)], capture_output=True, text=True, check=False)
    assert lint.returncode == 0, lint.stdout


def test_a_kafka_connect_resource_becomes_the_same_objects(
    kube: KubeServer,
    namespace: str,
    start_operator: Start,
    proxy: Callable[[str], ForwardProxy],
    worker: WorkerProcess,
    tmp_path: Path,
    name: str,
) -> None:
    address = f"app-connect-api.{namespace}.svc:8083"
    operator = start_operator(environment=proxy(address).environment())
    resources = Resources(kube, namespace, "app")
    spec: dict[str, Any] = {"bootstrapServers": "kafka:9092", "replicas": 2, "insecure": True}
    resources.apply(resources.manifest("KafkaConnect", "app", spec))
    told = resources.until("kafkaconnect", "app", lambda r: message(r, "Ready"))
    assert "0 of 2 workers are ready" in message(told, "Ready")
    assert "Deployment/app-connect" in objects(kube, namespace)
    owner = resources.get("deploy", "app-connect")["metadata"]["ownerReferences"][0]
    assert (owner["kind"], owner["name"]) == ("KafkaConnect", "app")
    writes = operator.counted("penstock_operator_kube_calls_total", verb="PATCH")

    # What a kubelet would bring about.
    status = {"status": {"replicas": 2, "readyReplicas": 2}}
    kube.api.merge(resources.get("deploy", "app-connect"), status, "status")
    found = resources.until_ready("kafkaconnect", "app")
    assert found["status"]["url"] == f"http://{address}"
    classes = [plugin["class"] for plugin in found["status"]["connectorPlugins"]]
    assert any("FileStreamSource" in each for each in classes)
    assert operator.counted("penstock_operator_kube_calls_total", verb="PATCH") == writes + 1

    (tmp_path / "in.txt").touch()
    config = {"file": str(tmp_path / "in.txt"), "topic": name}
    spec_c = {"class": "FileStreamSource", "config": config}
    resources.apply(resources.connector(name, spec_c))
    resources.until_ready("kctr", name)
    assert name in worker.client.connectors()
    resources.delete("kctr", name)

    resources.kubectl("scale", "kafkaconnect", "app", "--replicas=3")
    resources.until("deploy", "app-connect", lambda r: r["spec"]["replicas"] == 3)


def test_a_kafka_connect_that_cannot_be_deployed_says_why(
    kube: KubeServer, namespace: str, start_operator: Start
) -> None:
    start_operator()
    resources = Resources(kube, namespace, "app")
    resources.apply(resources.manifest("KafkaConnect", "app", {"bootstrapServers": "k:1"}))
    told = resources.until("kafkaconnect", "app", lambda r: message(r, "Ready"))
    assert "needs users and TLS" in message(told, "Ready")
    refused = resources.refused(
        "create", "-f", "-", stdin=json.dumps(resources.manifest("KafkaConnect", "b", {}))
    )
    assert "Give bootstrapServers for a cluster to deploy, or url" in refused
