"""What pods are rendered to do, done: no kubelet is here, so tests play its part.

The command, the properties and the mounted Secrets are the rendered ones. Only the listener is
another, by the option that wins over everything: loopback, on a free port.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from certificates import make_authority, make_certificate
from free_ports import free_port
from kube_api import KubeServer
from own_cluster import own_topics
from penstock.client import layer
from penstock.client.layer_state import update_state
from penstock.deploy.cluster import Deployment
from penstock.deploy.options import Options, Spark
from penstock.deploy.record import record
from penstock.deploy.render import render
from penstock.embedded import EmbeddedBroker
from penstock.rest.access.hashed_secrets import hashed
from played_pod import PlayedPod
from waiting import eventually

SECRET = "a secret of some length"
K8S = Spark(master="k8s://https://kubernetes.default.svc", executor_instances=3, executor_cores=2)


def found(objects: list[Any], kind: str) -> Any:
    return next(each for each in objects if each["kind"] == kind)


@pytest.fixture
def secrets(tmp_path: Path) -> dict[str, dict[str, str]]:
    """The Secrets that the options name: users, a certificate, and what the helpers say."""
    own = make_certificate(tmp_path, "worker", make_authority(tmp_path, "authority"))
    authority = (tmp_path / "authority.crt").read_text()
    return {
        "users": {"users": f"helper:operate:{hashed(SECRET)}\n"},
        "tls": {
            "tls.crt": own.certificate.read_text(),
            "tls.key": own.key.read_text(),
            "ca.crt": authority,
        },
        "rest": {"token": f"helper.{SECRET}", "ca.crt": authority},
    }


@pytest.fixture
def options(namespace: str, broker: EmbeddedBroker, name: str) -> Options:
    """Of workers with users and TLS."""
    return Options(
        "app",
        namespace=namespace,
        bootstrap_servers=broker.bootstrap_servers,
        upper_config={**own_topics(name), "listeners": "https://0.0.0.0:1"},
        worker_config={"listeners": f"https://127.0.0.1:{free_port()}"},
        users_secret="users",
        tls_secret="tls",
        credentials_secret="rest",
    )


@pytest.fixture
def pod(
    tmp_path: Path, options: Options, secrets: dict[str, dict[str, str]]
) -> Iterator[PlayedPod]:
    """The first pod of the StatefulSet."""
    objects = render(options)
    (tmp_path / "pod").mkdir()
    workload, config = found(objects, "StatefulSet"), found(objects, "ConfigMap")
    made = PlayedPod(tmp_path / "pod", workload, config, secrets)
    yield made
    made.close()


def test_a_pod_with_users_and_tls_becomes_ready_is_asked_by_the_helpers_and_ends_in_order(
    kube: KubeServer,
    options: Options,
    pod: PlayedPod,
    secrets: dict[str, dict[str, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PENSTOCK_LAYER_STATE", str(tmp_path / "layer.json"))
    for name, data in secrets.items():
        literals = [f"--from-literal={key}={value}" for key, value in data.items()]
        kube.kubectl("-n", options.namespace, "create", "secret", "generic", name, *literals)
    deployment = Deployment(kube.api, options.namespace, options.name)
    deployment.apply(render(options))
    record(options, deployment)

    pod.start()
    address = options.worker_config["listeners"]
    probe = pod.probe()
    assert probe["scheme"] == "HTTPS"
    with httpx.Client(base_url=address, verify=False, trust_env=False) as kubelet:  # noqa: S501 (as a kubelet)
        eventually(lambda: _is_ready(pod, kubelet, probe["path"]), within=120, every=0.3)
        assert kubelet.get("/connectors").status_code == 401

    update_state(service=address.removeprefix("https://"))
    assert layer.list_connectors() == (200, [])
    assert SECRET not in pod.log.read_text()
    assert pod.stop() == 0


def _is_ready(pod: PlayedPod, kubelet: httpx.Client, path: str) -> bool:
    try:
        return pod.running() and kubelet.get(path).status_code == 200
    except httpx.TransportError:
        return False


def test_sparks_executors_can_be_made_by_the_worker_and_reach_it(
    kube: KubeServer, namespace: str
) -> None:
    options = Options(
        "app",
        namespace=namespace,
        bootstrap_servers="kafka:9092",
        users_secret="users",
        tls_secret="tls",
        spark=K8S,
    )
    objects = render(options)
    for each in objects:
        kube.api.apply(each)
    template = yaml.safe_load(found(objects, "ConfigMap")["data"]["executor.yaml"])
    # What Spark adds to it.
    template["metadata"]["name"] = "app-exec-1"
    template["spec"]["containers"][0]["image"] = options.image
    executor = yaml.safe_dump(template)
    account = f"--as=system:serviceaccount:{namespace}:app-connect"
    strictly = ("create", "--dry-run=server", "--validate=strict", "-f", "-")
    kube.kubectl("-n", namespace, *strictly, account, stdin=executor)
    refused = kube.kubectl("-n", "default", *strictly, account, stdin=executor, check=False)
    assert "forbidden" in refused.stderr

    policy = found(objects, "NetworkPolicy")["spec"]
    allowed = policy["ingress"][1]
    assert allowed["from"][0]["podSelector"]["matchLabels"] == template["metadata"]["labels"]
    assert "ports" not in allowed
    # Or its Services would send requests to executors.
    assert (
        not policy["podSelector"]["matchLabels"].items() <= template["metadata"]["labels"].items()
    )
    properties = found(objects, "ConfigMap")["data"]["worker.properties"]
    assert "spark.cores.max=6\n" in properties
    assert "spark.authenticate=true\n" in properties


def test_an_operator_of_another_namespace_may_ask_workers(namespace: str) -> None:
    from penstock.operator.manifests import deployment

    objects = render(Options("app", bootstrap_servers="k:1", insecure=True))
    rest = found(objects, "NetworkPolicy")["spec"]["ingress"][0]
    operator = deployment(namespace, "image", cluster_wide=True)["spec"]["template"]["metadata"]
    assert any(
        "namespaceSelector" in peer
        and peer["podSelector"]["matchLabels"].items() <= operator["labels"].items()
        for peer in rest["from"]
    )
