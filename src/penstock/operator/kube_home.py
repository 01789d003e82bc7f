"""A resource that lives in an API server: status, annotations, Events and ConfigMaps."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from penstock.kube import KubeApi, KubeError
from penstock.operator.names import CLUSTER_LABEL, FINALIZER
from penstock.operator.status_patch import merge_patch
from penstock.sdk.errors import PenstockError

Json = dict[str, Any]
COMPONENT = "penstock-operator"
LONGEST_MESSAGE = 1000
log = logging.getLogger(__name__)


class KubeHome:
    """One resource, as it was read. For one round."""

    def __init__(self, api: KubeApi, resource: Json) -> None:
        self._api, self._resource = api, resource
        self._status: Json = resource.get("status") or {}
        self._meta: Json = resource["metadata"]

    def write_status(self, status: Mapping[str, Any]) -> None:
        """Write what has changed, if anything has."""
        patch = merge_patch(self._status, status)
        if patch:
            written = self._api.merge(self._resource, {"status": patch}, "status")
            self._status = written.get("status") or {}

    def drop_annotation(self, key: str) -> None:
        """Not if it has been set to something else meanwhile; then another round is due anyway."""
        path = f"/metadata/annotations/{key.replace('~', '~0').replace('/', '~1')}"
        test = {"op": "test", "path": path, "value": self._meta["annotations"][key]}
        try:
            self._api.json_patch(self._resource, [test, {"op": "remove", "path": path}])
        except KubeError as error:
            if error.status not in (404, 409, 422):
                raise

    def tell(self, kind: str, reason: str, message: str) -> None:
        """An Event. One that cannot be written is not worth a failure."""
        log.info("%s %s: %s: %s", self._resource["kind"], self._key(), reason, message)
        try:
            self._api.create(self._event(kind, reason, message))
        except PenstockError as error:
            log.warning("No Event was written for %s: %s", self._key(), error)

    def config_map(self, name: str) -> dict[str, str] | None:
        """Its data."""
        found = self._api.get("v1", "ConfigMap", name, self._meta["namespace"])
        return None if found is None else found.get("data") or {}

    def write_config_map(self, name: str, key: str, text: str) -> None:
        """Other keys of it stay."""
        namespace = self._meta["namespace"]
        body = {"apiVersion": "v1", "kind": "ConfigMap"}
        found = self._api.get("v1", "ConfigMap", name, namespace)
        if found is not None:
            place = {**body, "metadata": {"name": name, "namespace": namespace}}
            self._api.merge(place, {"data": {key: text}})
            return
        labels = {k: v for k, v in (self._meta.get("labels") or {}).items() if k == CLUSTER_LABEL}
        owner = {**self._reference(), "controller": False, "blockOwnerDeletion": False}
        owner.pop("namespace")
        meta = {"name": name, "namespace": namespace, "labels": labels, "ownerReferences": [owner]}
        self._api.create({**body, "metadata": meta, "data": {key: text}})

    def hold(self) -> None:
        """Add the finalizer."""
        kept = self._meta.get("finalizers") or []
        if FINALIZER not in kept:
            self._set_finalizers([*kept, FINALIZER])

    def let_go(self) -> None:
        """Take it away, after which the resource may vanish."""
        kept = self._meta.get("finalizers") or []
        if FINALIZER in kept:
            self._set_finalizers([f for f in kept if f != FINALIZER])

    def _set_finalizers(self, finalizers: list[str]) -> None:
        # The version makes it fail (409) rather than undo what another client has just written.
        version = self._meta["resourceVersion"]
        patch = {"metadata": {"finalizers": finalizers, "resourceVersion": version}}
        changed = self._api.merge(self._resource, patch)
        self._meta["finalizers"] = finalizers
        self._meta["resourceVersion"] = changed.get("metadata", {}).get("resourceVersion", "")

    def _key(self) -> str:
        return f"{self._meta.get('namespace', '')}/{self._meta['name']}"

    def _reference(self) -> Json:
        return {
            "apiVersion": self._resource["apiVersion"],
            "kind": self._resource["kind"],
            "name": self._meta["name"],
            "namespace": self._meta["namespace"],
            "uid": self._meta["uid"],
        }

    def _event(self, kind: str, reason: str, message: str) -> Json:
        now = datetime.now(UTC)
        micros = now.isoformat(timespec="microseconds").replace("+00:00", "Z")
        seconds = now.isoformat(timespec="seconds").replace("+00:00", "Z")
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {
                "generateName": f"{self._meta['name']}.",
                "namespace": self._meta["namespace"],
            },
            "involvedObject": self._reference(),
            "type": kind,
            "reason": reason,
            "message": message[:LONGEST_MESSAGE],
            "eventTime": micros,
            "firstTimestamp": seconds,
            "lastTimestamp": seconds,
            "count": 1,
            "action": reason,
            "reportingComponent": COMPONENT,
            "reportingInstance": COMPONENT,
            "source": {"component": COMPONENT},
        }
