"""Hundreds of KafkaConnector resources at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from kube_api import KubeServer, ready
from kube_resources import CLUSTER
from penstock.operator.names import API_VERSION, CLUSTER_LABEL, CONNECTOR
from waiting import eventually


def create_many(kube: KubeServer, namespace: str, count: int, *, shown: bool = False) -> None:
    """Connectors that are stopped, so that they need no Spark; eight at a time."""
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: _create(kube, namespace, n, shown=shown), range(count)))


def await_settled(kube: KubeServer, namespace: str, count: int, within: float = 600.0) -> None:
    """Return once that many are ready."""
    what = f"{count} connectors to be ready"
    eventually(lambda: settled(kube, namespace) == count, within=within, every=1, what=what)


def settled(kube: KubeServer, namespace: str) -> int:
    """How many are ready."""
    found = kube.api.all(API_VERSION, CONNECTOR, namespace)
    return sum(ready(resource) == "True" for resource in found)


def delete_many(kube: KubeServer, namespace: str, within: float = 600.0) -> None:
    """Delete all of a namespace; returns once they are gone."""
    for found in kube.api.all(API_VERSION, CONNECTOR, namespace):
        kube.api.delete(found)
    eventually(lambda: not kube.api.all(API_VERSION, CONNECTOR, namespace), within=within, every=1)


def _create(kube: KubeServer, namespace: str, number: int, *, shown: bool) -> None:
    kube.api.create(
        {
            "apiVersion": API_VERSION,
            "kind": CONNECTOR,
            "metadata": {
                "name": f"c{number}-{namespace}",
                "namespace": namespace,
                "labels": {CLUSTER_LABEL: CLUSTER},
            },
            "spec": {
                "class": "FileStreamSource",
                "state": "stopped",
                "showOffsets": shown,
                "config": {"file": "/nowhere", "topic": "t"},
            },
        }
    )
