"""Who may do what: the operator with the least rights, and people with a role per kind."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from commands import Outcome
from kube_api import KubeServer
from kube_resources import Resources, condition
from operator_process import OperatorProcess
from penstock.cli import main
from penstock.operator.manifests import manifests, operator_rules

Start = Callable[..., OperatorProcess]
RBAC = "rbac.authorization.k8s.io/v1"


def bind(kube: KubeServer, namespace: str, user: str, role: str) -> Path:
    """A user with a cluster role in one namespace; the user's kubeconfig."""
    kube.kubectl(
        *("-n", namespace, "create", "rolebinding", f"{user}-{role}"),
        *(f"--clusterrole={role}", f"--user={user}"),
    )
    return kube.user(user)


def test_an_operator_needs_no_more_than_its_role(
    kube: KubeServer, resources: Resources, start_operator: Start, tmp_path: Path, name: str
) -> None:
    user, namespace = f"operator-{resources.namespace}", resources.namespace
    meta = {"name": user}
    kube.api.apply(
        {"apiVersion": RBAC, "kind": "ClusterRole", "metadata": meta, "rules": operator_rules()}
    )
    kubeconfig = bind(kube, namespace, user, user)
    start_operator("--strimzi-offsets", kubeconfig=kubeconfig)
    (tmp_path / "in.txt").write_text("one\n")
    config = {"file": str(tmp_path / "in.txt"), "topic": name}
    spec = {"class": "FileStreamSource", "config": config, "state": "stopped", "showOffsets": True}
    spec["listOffsets"] = {"toConfigMap": {"name": "listed"}}
    resources.apply(resources.connector(name, spec))
    resources.until_ready("kctr", name)
    entry = {"partition": f'{{"filename":"{tmp_path}/in.txt"}}', "offset": '{"position":4}'}
    resources.apply(resources.offsets("o", {"connectorName": name, "sourceOffsets": [entry]}))
    resources.until_ready("kctro", "o")
    for annotation in ("strimzi.io/connector-offsets=list", "strimzi.io/offsets-reset=true"):
        resources.annotate("kctr", name, annotation)
        resources.until_dropped("kctr", name, annotation.partition("=")[0])
    assert not condition(resources.get("kctr", name), "strimzi.io/offsets-reset")
    assert "OffsetsReset" in resources.kubectl("get", "events")
    resources.delete("kctr", name)
    refused = kube.kubectl(
        *("-n", namespace, "create", "configmap", "x", "--dry-run=server"),
        *(
            "-n",
            "default",
        ),
        kubeconfig=kubeconfig,
        check=False,
    )
    assert "forbidden" in refused.stderr


@pytest.mark.parametrize(
    ("mine", "other"),
    [("kafkaconnectoroffsets", "kafkaconnectors"), ("kafkaconnectors", "kafkaconnectoroffsets")],
)
def test_who_may_edit_one_kind_may_not_edit_the_other(
    kube: KubeServer, resources: Resources, mine: str, other: str
) -> None:
    user = f"{mine}-user"
    kubeconfig = bind(kube, resources.namespace, user, f"penstock-{mine}-editor")
    made = {
        "kafkaconnectoroffsets": resources.offsets("o", {"connectorName": "c", "sinkOffsets": []}),
        "kafkaconnectors": resources.connector("c", {"class": "C"}),
    }
    resources.kubectl("create", "-f", "-", stdin=json.dumps(made[mine]), kubeconfig=kubeconfig)
    told = resources.refused(
        "create", "-f", "-", stdin=json.dumps(made[other]), kubeconfig=kubeconfig
    )
    assert f'cannot create resource "{other}"' in told
    told = resources.refused("delete", "kafkaconnect", resources.cluster, kubeconfig=kubeconfig)
    assert "cannot delete" in told


@pytest.mark.parametrize("cluster_wide", [False, True])
def test_the_manifests_are_taken_by_the_server(
    kube: KubeServer, namespace: str, cluster_wide: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    wide = ["--cluster-wide"] if cluster_wide else []
    with pytest.raises(SystemExit) as ended:
        main(["operator", "manifests", "-n", namespace, *wide])
    outcome = Outcome(int(ended.value.code or 0), capsys.readouterr().out.encode(), "")
    assert list(yaml.safe_load_all(outcome.out)) == manifests(
        namespace, "penstock:0.1.0", cluster_wide=cluster_wide
    )
    kube.kubectl(
        *("apply", "--server-side", "--force-conflicts", "--dry-run=server"),
        *("--validate=strict", "-f", "-"),
        stdin=outcome.out,
    )


def test_no_rule_allows_everything() -> None:
    for rule in operator_rules():
        assert "*" not in (*rule["apiGroups"], *rule["resources"], *rule["verbs"])
