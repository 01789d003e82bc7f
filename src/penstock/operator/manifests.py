"""What an operator needs in a cluster: its kinds, its rights and itself; and roles for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.operator.crds import crds
from penstock.operator.names import CONNECT, CONNECTOR, GROUP, OFFSETS, PLURALS

Json = dict[str, Any]
NAME = "penstock-operator"
RBAC = "rbac.authorization.k8s.io/v1"
HEALTH_PORT = 8080
WATCHING = ("get", "list", "watch")
CHANGING = ("get", "list", "watch", "create", "update", "patch", "delete")


def manifests(
    namespace: str, image: str, *, cluster_wide: bool = False, beside_strimzi: bool = False
) -> list[Json]:
    """Everything for an operator in ``namespace``, which serves that namespace or all of them."""
    rules = beside_strimzi_rules() if beside_strimzi else operator_rules()
    kinds = (OFFSETS,) if beside_strimzi else (CONNECTOR, OFFSETS, CONNECT)
    more = ["--beside-strimzi"] if beside_strimzi else []
    return [
        *crds(beside_strimzi=beside_strimzi),
        *user_roles(kinds),
        _service_account(namespace),
        *_rights(namespace, rules, cluster_wide=cluster_wide),
        *_lease_rights(namespace),
        deployment(namespace, image, *more, cluster_wide=cluster_wide),
    ]


def user_roles(kinds: Sequence[str] = (CONNECTOR, OFFSETS, CONNECT)) -> list[Json]:
    """Roles per kind, so that altering offsets and editing connectors can be granted apart."""
    return [
        _role(
            "ClusterRole", f"penstock-{PLURALS[kind]}-{name}", "", [_rule([PLURALS[kind]], verbs)]
        )
        for kind in kinds
        for name, verbs in (("editor", CHANGING), ("viewer", WATCHING))
    ]


def beside_strimzi_rules() -> list[Json]:
    """The same for one that alters offsets alone, and changes nothing that is Strimzi's."""
    return [
        _rule([PLURALS[OFFSETS]], WATCHING),
        _rule([f"{PLURALS[OFFSETS]}/status"], ("patch",)),
        _rule([PLURALS[CONNECT]], ("get",)),
        _rule(["events"], ("create",), ""),
    ]


def operator_rules() -> list[Json]:
    """The least that an operator needs in the namespaces that it looks after."""
    plurals = list(PLURALS.values())
    return [
        _rule(plurals, WATCHING),
        # Its finalizer, and annotations that it has acted on.
        _rule([PLURALS[CONNECTOR]], ("patch",)),
        _rule([f"{plural}/status" for plural in plurals], ("patch",)),
        _rule(["events"], ("create",), ""),
        # ConfigMaps for strimzi.io/connector-offsets, and those of clusters it deploys.
        _rule(["configmaps"], ("get", "create", "patch", "delete"), ""),
        # spec.credentialsSecret
        _rule(["secrets"], ("get",), ""),
        _rule(["services", "serviceaccounts"], ("get", "create", "patch", "delete"), ""),
        _rule(["deployments", "statefulsets"], ("get", "create", "patch", "delete"), "apps"),
        _rule(["poddisruptionbudgets"], ("get", "create", "patch", "delete"), "policy"),
        _rule(["networkpolicies"], ("get", "create", "patch", "delete"), "networking.k8s.io"),
    ]


def _rights(namespace: str, rules: list[Json], *, cluster_wide: bool) -> list[Json]:
    role, binding = (
        ("ClusterRole", "ClusterRoleBinding") if cluster_wide else ("Role", "RoleBinding")
    )
    place = "" if cluster_wide else namespace
    return [
        _role(role, NAME, place, rules),
        _binding(binding, NAME, place, role, namespace),
    ]


def _lease_rights(namespace: str) -> list[Json]:
    name = f"{NAME}-lease"
    rules = [_rule(["leases"], ("get", "create", "update"), "coordination.k8s.io")]
    return [
        _role("Role", name, namespace, rules),
        _binding("RoleBinding", name, namespace, "Role", namespace),
    ]


def _rule(resources: Sequence[str], verbs: Sequence[str], group: str = GROUP) -> Json:
    return {"apiGroups": [group], "resources": list(resources), "verbs": list(verbs)}


def _role(kind: str, name: str, namespace: str, rules: list[Json]) -> Json:
    return {"apiVersion": RBAC, "kind": kind, "metadata": _meta(name, namespace), "rules": rules}


def _binding(kind: str, name: str, namespace: str, role: str, subject: str) -> Json:
    return {
        "apiVersion": RBAC,
        "kind": kind,
        "metadata": _meta(name, namespace),
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": role, "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": NAME, "namespace": subject}],
    }


def _meta(name: str, namespace: str) -> Json:
    meta: Json = {"name": name, "labels": {"app": "penstock", "app.kubernetes.io/name": NAME}}
    return {**meta, "namespace": namespace} if namespace else meta


def _service_account(namespace: str) -> Json:
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": _meta(NAME, namespace)}


def deployment(namespace: str, image: str, *more: str, cluster_wide: bool) -> Json:
    """Two operators, of which one leads; ``more`` are options of theirs."""
    labels = {"app.kubernetes.io/name": NAME}
    where = ["--all-namespaces"] if cluster_wide else ["--namespace", namespace]
    health = ["--health-host", "0.0.0.0", "--health-port", str(HEALTH_PORT)]  # noqa: S104 (inside a pod)
    probe = {"httpGet": {"path": "/healthz", "port": "health"}, "periodSeconds": 10}
    container = {
        "name": "operator",
        "image": image,
        "args": ["operator", *where, *more, *health],
        "ports": [{"name": "health", "containerPort": HEALTH_PORT}],
        "livenessProbe": probe,
        "readinessProbe": probe,
        "resources": {"requests": {"cpu": "50m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],  # noqa: S108 (its own, in memory)
    }
    pod = {
        "serviceAccountName": NAME,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 10001,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [container],
        "volumes": [{"name": "tmp", "emptyDir": {"medium": "Memory"}}],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": _meta(NAME, namespace),
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }
