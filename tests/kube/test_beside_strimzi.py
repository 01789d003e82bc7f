"""Where Strimzi's own operator and kinds are, ours leaves them alone and serves offsets beside it.

Strimzi itself does not run here. Its kinds are ours without the fields that only ours have, so that
the API server treats resources as it would with Strimzi's own definitions.
"""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from kube_api import KubeServer
from kube_resources import CLUSTER, Resources, operator_account
from operator_process import OperatorProcess
from penstock.operator.crds import crds
from penstock.operator.manifests import manifests
from waiting import eventually
from worker_process import WorkerProcess

OWN = "penstock"
CONNECTOR, CONNECT = "KafkaConnector", "KafkaConnect"
OURS = {CONNECTOR: ("showOffsets",), CONNECT: ("url", "credentialsSecret")}


def strimzi_kinds() -> list[Any]:
    """KafkaConnector and KafkaConnect without our fields."""
    made = copy.deepcopy([crd for crd in crds() if crd["spec"]["names"]["kind"] in OURS])
    for crd in made:
        for version in crd["spec"]["versions"]:
            spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
            spec.pop("x-kubernetes-validations", None)
            for field in OURS[crd["spec"]["names"]["kind"]]:
                spec["properties"].pop(field, None)  # both versions have one schema
    return made


@pytest.fixture
def strimzis(own_kube: KubeServer, worker: WorkerProcess) -> KubeServer:
    """An API server with Strimzi's kinds, and a cluster that Strimzi runs."""
    own_kube.kubectl("create", "namespace", OWN)
    own_kube.kubectl("apply", "-f", "-", stdin=yaml.safe_dump_all(strimzi_kinds()))
    eventually(lambda: _published(own_kube), within=60, what="the schema is published")
    resources = Resources(own_kube, OWN, CLUSTER)
    resources.apply(resources.manifest(CONNECT, CLUSTER, {"bootstrapServers": "kafka:9092"}))
    cluster = resources.get("kafkaconnect", CLUSTER)
    own_kube.api.merge(cluster, {"status": {"url": worker.url}}, "status")
    return own_kube


def _published(kube: KubeServer) -> bool:
    return kube.kubectl("explain", "kafkaconnectors.spec.class", check=False).returncode == 0


def test_strimzis_kinds_are_left_alone_unless_it_is_told_how(
    strimzis: KubeServer, tmp_path: Path
) -> None:
    strimzis.kubectl(
        *("apply", "--server-side", "-f", "-"),
        stdin=yaml.safe_dump_all(crds(beside_strimzi=True)),
    )
    strimzis.kubectl("wait", "crd", "--all", "--for=condition=Established", "--timeout=30s")
    operator = OperatorProcess(tmp_path / "operator", strimzis.kubeconfig, "--no-leader-election")
    with pytest.raises(AssertionError, match="Start with --beside-strimzi"):
        operator.start()
    assert operator.process is not None
    assert operator.process.wait(20) == 1


def test_offsets_are_altered_beside_strimzi_and_nothing_of_it_is_touched(
    strimzis: KubeServer, worker: WorkerProcess, source: dict, file: Path, tmp_path: Path, name: str
) -> None:
    before = strimzis.json("get", "crd", "kafkaconnectors.kafka.strimzi.io")["spec"]
    made = manifests(OWN, "penstock:0.1.0", beside_strimzi=True)
    strimzis.kubectl("apply", "--server-side", "-f", "-", stdin=yaml.safe_dump_all(made))
    strimzis.kubectl("wait", "crd", "--all", "--for=condition=Established", "--timeout=30s")
    resources = Resources(strimzis, OWN, CLUSTER)
    resources.apply(resources.connector(name, source))
    config = {**source["config"], "connector.class": source["class"]}
    worker.client.create(name, config, initial_state="STOPPED")
    seen = [resources.get("kctr", name), resources.get("kafkaconnect", CLUSTER)]

    account = operator_account(strimzis, OWN, tmp_path)
    operator = OperatorProcess(
        *(tmp_path / "operator", account, "-n", OWN, "--beside-strimzi", "--interval", "1")
    )
    try:
        operator.start()
        entry = {"partition": json.dumps({"filename": str(file)}), "offset": '{"position":4}'}
        spec = {"connectorName": name, "sourceOffsets": [entry]}
        resources.apply(resources.offsets("o", spec))
        resources.until_ready("kctro", "o")
        assert worker.client.offsets(name)[0]["offset"] == {"position": 4}
        assert "forbidden" not in operator.output()
    finally:
        operator.close()
    assert seen == [resources.get("kctr", name), resources.get("kafkaconnect", CLUSTER)]
    assert strimzis.json("get", "crd", "kafkaconnectors.kafka.strimzi.io")["spec"] == before
    assert resources.kubectl("get", "deploy,sts", "-l", f"strimzi.io/cluster={CLUSTER}") == ""
    worker.client.delete(name)
