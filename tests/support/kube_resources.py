"""Resources as users write them, and what they look like later."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from kube_api import KubeServer
from waiting import eventually

Json = dict[str, Any]
CLUSTER = "my-connect-cluster"


class Resources:
    """Those of one namespace, through kubectl."""

    def __init__(self, kube: KubeServer, namespace: str, cluster: str) -> None:
        self.kube, self.namespace, self.cluster = kube, namespace, cluster

    def kubectl(self, *arguments: str, **more: Any) -> str:
        """What it prints."""
        return self.kube.kubectl("-n", self.namespace, *arguments, **more).stdout

    def refused(self, *arguments: str, **more: Any) -> str:
        """What it says when it fails, which it must."""
        done = self.kube.kubectl("-n", self.namespace, *arguments, check=False, **more)
        assert done.returncode != 0, done.stdout
        return done.stderr

    def connector(self, name: str, spec: Json, **annotations: str) -> Json:
        """A KafkaConnector, as a manifest."""
        return self.manifest("KafkaConnector", name, spec, **annotations)

    def offsets(self, name: str, spec: Json) -> Json:
        """A KafkaConnectorOffsets, as a manifest."""
        return self.manifest("KafkaConnectorOffsets", name, spec)

    def manifest(self, kind: str, name: str, spec: Json, **annotations: str) -> Json:
        """Of any kind."""
        meta = {"name": name, "labels": {"strimzi.io/cluster": self.cluster}}
        version = annotations.pop("version", "v1beta2")
        if annotations:
            meta["annotations"] = annotations
        return {
            "apiVersion": f"kafka.strimzi.io/{version}",
            "kind": kind,
            "metadata": meta,
            "spec": spec,
        }

    def apply(self, *manifests: Json) -> None:
        """`kubectl apply -f -`."""
        self.kubectl("apply", "-f", "-", stdin=yaml.safe_dump_all(manifests))

    def patch(self, kind: str, name: str, **spec: Any) -> None:
        """`kubectl patch`, of the spec."""
        change = json.dumps({"spec": spec})
        self.kubectl("patch", kind, name, "--type=merge", "-p", change)

    def delete(self, kind: str, name: str) -> None:
        """`kubectl delete`; returns once it is gone."""
        self.kubectl("delete", kind, name, "--timeout=60s")

    def annotate(self, kind: str, name: str, text: str) -> None:
        """`kubectl annotate`."""
        self.kubectl("annotate", kind, name, text, "--overwrite")

    def get(self, kind: str, name: str) -> Json:
        """The resource as it is."""
        found: Json = self.kube.json("-n", self.namespace, "get", kind, name)
        return found

    def until(
        self, kind: str, name: str, holds: Callable[[Json], Any], within: float = 60.0
    ) -> Json:
        """The resource once ``holds`` is true of it."""
        last: list[Json] = []

        def there() -> bool:
            last[:] = [self.get(kind, name)]
            return bool(holds(last[0]))

        try:
            eventually(there, within=within, every=0.2)
        except AssertionError:
            raise AssertionError(f"not within {within} s; it is: {yaml.safe_dump(last)}") from None
        return last[0]

    def until_ready(self, kind: str, name: str) -> Json:
        """The resource once it is Ready, in its present generation."""
        return self.until(kind, name, lambda r: is_current(r) and condition(r, "Ready") == "True")

    def until_dropped(self, kind: str, name: str, annotation: str) -> Json:
        """The resource once it no longer has an annotation."""
        return self.until(kind, name, lambda r: annotation not in annotations_of(r))

    def until_not_ready(self, kind: str, name: str) -> str:
        """Why it is not Ready, once it says so of its present generation."""
        found = self.until(kind, name, lambda r: is_current(r) and condition(r, "Ready") == "False")
        return message(found, "Ready")


def annotations_of(resource: Json) -> dict[str, str]:
    """Of a resource; it may have none."""
    return resource["metadata"].get("annotations") or {}


def is_current(resource: Json) -> bool:
    """Whether the status is about the present spec."""
    status = resource.get("status") or {}
    return bool(status.get("observedGeneration") == resource["metadata"]["generation"])


def condition(resource: Json, kind: str) -> str:
    """The status of a condition, empty if there is none."""
    return str(_condition(resource, kind).get("status", ""))


def message(resource: Json, kind: str) -> str:
    """The message of a condition, empty if there is none."""
    return str(_condition(resource, kind).get("message", ""))


def _condition(resource: Json, kind: str) -> Json:
    conditions = (resource.get("status") or {}).get("conditions", ())
    return next((dict(c) for c in conditions if c["type"] == kind), {})


def apply_cluster(kube: KubeServer, namespace: str, url: str, name: str = CLUSTER) -> None:
    """A KafkaConnect for a cluster that is there already."""
    kube.api.apply(
        {
            "apiVersion": "kafka.strimzi.io/v1beta2",
            "kind": "KafkaConnect",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"url": url},
        }
    )


def operator_account(kube: KubeServer, namespace: str, folder: Path) -> Path:
    """The kubeconfig of an installed operator's ServiceAccount."""
    token = kube.kubectl("-n", namespace, "create", "token", "penstock-operator").stdout.strip()
    config = yaml.safe_load(kube.kubeconfig.read_text())
    config["users"] = [{"name": "operator", "user": {"token": token}}]
    config["contexts"][0]["context"] |= {"user": "operator", "namespace": namespace}
    file = folder / "account.kubeconfig"
    file.write_text(yaml.safe_dump(config))
    return file
