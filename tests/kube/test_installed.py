"""The operator as its manifests install it: with the rights of its own ServiceAccount, no more."""

from pathlib import Path

import pytest
import yaml

from kube_api import KubeServer
from kube_resources import Resources, apply_cluster, operator_account
from operator_process import OperatorProcess
from penstock.operator.manifests import manifests
from worker_process import WorkerProcess

OWN = "penstock"


@pytest.mark.parametrize("cluster_wide", [True, False])
def test_an_installed_operator_works(
    own_kube: KubeServer, worker: WorkerProcess, tmp_path: Path, name: str, cluster_wide: bool
) -> None:
    own_kube.kubectl("create", "namespace", OWN)
    text = yaml.safe_dump_all(manifests(OWN, "penstock:0.1.0", cluster_wide=cluster_wide))
    own_kube.kubectl("apply", "--server-side", "-f", "-", stdin=text)
    own_kube.kubectl("wait", "crd", "--all", "--for=condition=Established", "--timeout=30s")
    places = [OWN, "other"] if cluster_wide else [OWN]
    options = ("-A",) if cluster_wide else ("-n", OWN)
    operator = OperatorProcess(
        tmp_path / "operator",
        operator_account(own_kube, OWN, tmp_path),
        *options,
        "--interval",
        "1",
    )
    try:
        operator.start()
        for place in places:
            if place != OWN:
                own_kube.kubectl("create", "namespace", place)
            apply_cluster(own_kube, place, worker.url)
            resources = Resources(own_kube, place, "my-connect-cluster")
            spec = {"class": "FileStreamSource", "state": "stopped"}
            config = {"file": "/f", "topic": "t"}
            connector = f"{place}-{name[-30:]}"
            resources.apply(resources.connector(connector, {**spec, "config": config}))
            resources.until_ready("kctr", connector)
            assert "Created" in resources.kubectl("get", "events")
            resources.delete("kctr", connector)
        lease = own_kube.json("-n", OWN, "get", "lease", "penstock-operator")
        assert lease["spec"]["holderIdentity"]
        assert "forbidden" not in operator.output()
    finally:
        operator.close()


def test_without_its_kinds_it_says_what_to_do(own_kube: KubeServer, tmp_path: Path) -> None:
    operator = OperatorProcess(tmp_path / "operator", own_kube.kubeconfig, "--no-leader-election")
    with pytest.raises(AssertionError, match="penstock operator manifests --crds"):
        operator.start()
    assert operator.process is not None
    assert operator.process.wait(20) == 1
