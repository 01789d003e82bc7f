"""All objects of a deployment, as manifests."""

from __future__ import annotations

import hashlib
from typing import Any

import yaml

from penstock.deploy.options import Options
from penstock.deploy.places import PORT, SPARK_BLOCK_PORT, SPARK_DRIVER_PORT
from penstock.deploy.pods import executor_labels, executor_template, pod_template
from penstock.deploy.properties import render_properties, worker_properties

Json = dict[str, Any]
INSTANCE = "app.kubernetes.io/instance"
APP_NAME = "app.kubernetes.io/name"
KINDS = (
    ("v1", "ServiceAccount"),
    ("rbac.authorization.k8s.io/v1", "Role"),
    ("rbac.authorization.k8s.io/v1", "RoleBinding"),
    ("v1", "ConfigMap"),
    ("v1", "Service"),
    ("networking.k8s.io/v1", "NetworkPolicy"),
    ("policy/v1", "PodDisruptionBudget"),
    ("apps/v1", "Deployment"),
    ("apps/v1", "StatefulSet"),
)
"""Every kind that a deployment may have objects of, in the order in which they are made."""


def render(options: Options) -> list[Json]:
    """In the order in which they should be made."""
    return [
        _object(options, "v1", "ServiceAccount", options.pods_service),
        *(_spark_rights(options) if options.spark.in_pods else ()),
        _config(options),
        _api_service(options),
        _pods_service(options),
        _network_policy(options),
        _disruption_budget(options),
        _workload(options),
    ]


def labels(name: str) -> dict[str, str]:
    """By which the objects of a deployment are found again."""
    return {
        APP_NAME: "penstock-connect",
        INSTANCE: name,
        "app.kubernetes.io/managed-by": "penstock",
        "strimzi.io/cluster": name,
    }


def _selector(options: Options) -> dict[str, str]:
    return {APP_NAME: "penstock-connect", INSTANCE: options.name}


def _object(options: Options, version: str, kind: str, name: str, **content: Any) -> Json:
    meta: Json = {"name": name, "namespace": options.namespace, "labels": labels(options.name)}
    if options.owner:
        meta["ownerReferences"] = [dict(options.owner)]
    return {"apiVersion": version, "kind": kind, "metadata": meta, **content}


def _config(options: Options) -> Json:
    data = {"worker.properties": render_properties(worker_properties(options))}
    if options.spark.in_pods:
        data["executor.yaml"] = yaml.safe_dump(executor_template(options), sort_keys=False)
    return _object(options, "v1", "ConfigMap", options.pods_service, data=data)


def _api_service(options: Options) -> Json:
    port = {"name": "rest", "port": PORT, "targetPort": "rest"}
    spec = {"selector": _selector(options), "ports": [port]}
    return _object(options, "v1", "Service", options.api_service, spec=spec)


def _pods_service(options: Options) -> Json:
    ports = [{"name": "rest", "port": PORT, "targetPort": "rest"}]
    if options.spark.in_pods:
        ports.append(
            {"name": "spark-driver", "port": SPARK_DRIVER_PORT, "targetPort": "spark-driver"}
        )
        ports.append({"name": "spark-block", "port": SPARK_BLOCK_PORT, "targetPort": "spark-block"})
    spec = {
        "clusterIP": "None",
        # Workers find each other before they are ready.
        "publishNotReadyAddresses": True,
        "selector": _selector(options),
        "ports": ports,
    }
    return _object(options, "v1", "Service", options.pods_service, spec=spec)


def _network_policy(options: Options) -> Json:
    """REST from the same namespace and from operators; the rest from our executors alone."""
    callers: list[Json] = [
        {"podSelector": {}},
        # An operator may run in a namespace of its own.
        {"namespaceSelector": {}, "podSelector": {"matchLabels": {APP_NAME: "penstock-operator"}}},
    ]
    ingress: list[Json] = [{"from": callers, "ports": [{"protocol": "TCP", "port": PORT}]}]
    if options.spark.in_pods:
        # Without ports: leases report to the worker on a port that it is given at its start.
        ingress.append({"from": [{"podSelector": {"matchLabels": executor_labels(options)}}]})
    spec = {
        "podSelector": {"matchLabels": _selector(options)},
        "policyTypes": ["Ingress"],
        "ingress": ingress,
    }
    return _object(
        options, "networking.k8s.io/v1", "NetworkPolicy", options.pods_service, spec=spec
    )


def _disruption_budget(options: Options) -> Json:
    spec = {"maxUnavailable": 1, "selector": {"matchLabels": _selector(options)}}
    return _object(options, "policy/v1", "PodDisruptionBudget", options.pods_service, spec=spec)


def _spark_rights(options: Options) -> list[Json]:
    """What a worker needs to make executors of its own, and no more."""
    name, version = options.pods_service, "rbac.authorization.k8s.io/v1"
    verbs = ["get", "list", "watch", "create", "patch", "delete", "deletecollection"]
    rule = {
        "apiGroups": [""],
        "resources": ["pods", "configmaps", "services", "persistentvolumeclaims"],
        "verbs": verbs,
    }
    subject = {"kind": "ServiceAccount", "name": name, "namespace": options.namespace}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name}
    return [
        _object(options, version, "Role", name, rules=[rule]),
        _object(options, version, "RoleBinding", name, roleRef=reference, subjects=[subject]),
    ]


def _workload(options: Options) -> Json:
    config = render_properties(worker_properties(options))
    digest = hashlib.sha256(config.encode()).hexdigest()[:16]
    spec: Json = {
        "replicas": options.workers,
        "selector": {"matchLabels": _selector(options)},
        "template": pod_template(options, labels(options.name), digest),
    }
    if not options.stateful:
        return _object(options, "apps/v1", "Deployment", options.pods_service, spec=spec)
    spec |= {"serviceName": options.pods_service, "podManagementPolicy": "Parallel"}
    if options.storage:
        claim = {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": options.storage}},
        }
        spec["volumeClaimTemplates"] = [{"metadata": {"name": "data"}, "spec": claim}]
    return _object(options, "apps/v1", "StatefulSet", options.pods_service, spec=spec)


def to_yaml(objects: list[Json]) -> str:
    """As one file, without anchors, which are hard to read."""
    return str(yaml.dump_all(objects, Dumper=_Plain, sort_keys=False, width=100))


class _Plain(yaml.SafeDumper):
    """Writes what occurs twice twice."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _block_style(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style="|" if "\n" in text else None
    )


_Plain.add_representer(str, _block_style)
