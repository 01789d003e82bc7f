"""A deployment in a cluster: make it so, look at it, scale it, take it away."""

from __future__ import annotations

import base64
import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.deploy.places import PORT
from penstock.deploy.render import INSTANCE, KINDS, to_yaml
from penstock.kube import KubeApi, KubeError
from penstock.sdk.errors import UserError

Json = dict[str, Any]
NOISE = ("managedFields", "resourceVersion", "uid", "creationTimestamp", "generation")


@dataclass(frozen=True)
class DeployStatus:
    """``service`` is ip:port of REST, None while there is none."""

    kind: str
    wanted: int
    ready: int
    service: str | None


class Deployment:
    """The objects of one name in one namespace. Errors of the API server pass through."""

    def __init__(self, api: KubeApi, namespace: str, name: str) -> None:
        self._api, self._namespace, self._name = api, namespace, name

    def apply(self, objects: Sequence[Json]) -> list[str]:
        """Make them so, and remove those of ours that are no longer among them; what was done."""
        done = []
        for wanted in objects:
            before = self._live(wanted)
            after = self._api.apply(wanted)
            done.append(f"{_title(wanted)} {_verb(before, after)}")
        kept = {_identity(wanted) for wanted in objects}
        gone = [found for found in self.objects() if _identity(found) not in kept]
        return done + [f"{_title(found)} deleted" for found in gone if self._api.delete(found)]

    def diff(self, objects: Sequence[Json]) -> str:
        """What `apply` would change, as a unified diff; empty if nothing."""
        parts = []
        for wanted in objects:
            before, after = self._live(wanted), self._api.apply(wanted, dry_run=True)
            parts.append(_difference(_title(wanted), before, after))
        kept = {_identity(wanted) for wanted in objects}
        gone = [found for found in self.objects() if _identity(found) not in kept]
        return "".join([*parts, *(_difference(_title(found), found, None) for found in gone)])

    def objects(self) -> list[Json]:
        """What is there, in the order in which it was made."""
        wanted = {INSTANCE: self._name, "app.kubernetes.io/managed-by": "penstock"}
        found: list[Json] = []
        for version, kind in KINDS:
            found += self._api.all(version, kind, self._namespace, wanted)
        return found

    def delete(self) -> list[str]:
        """Take all of it away, the pods first. Volumes of workers stay, as Kubernetes has it."""
        gone = [found for found in reversed(self.objects()) if self._api.delete(found)]
        return [f"{_title(found)} deleted" for found in gone]

    def scale(self, workers: int) -> str:
        """Change the number of workers alone."""
        workload = self._workload()
        self._api.merge(workload, {"spec": {"replicas": workers}})
        return f"{_title(workload)} scaled to {workers}"

    def status(self) -> DeployStatus:
        """How it is."""
        workload = self._workload()
        status = workload.get("status") or {}
        return DeployStatus(
            kind=workload["kind"],
            wanted=workload["spec"]["replicas"],
            ready=int(status.get("readyReplicas", 0)),
            service=self.service(),
        )

    def service(self) -> str | None:
        """ip:port of the Service that REST is asked through."""
        found = self._api.get("v1", "Service", f"{self._name}-connect-api", self._namespace)
        address = ((found or {}).get("spec") or {}).get("clusterIP")
        if not address or address == "None":
            return None
        return f"[{address}]:{PORT}" if ":" in address else f"{address}:{PORT}"

    def secret(self, name: str) -> dict[str, str]:
        """What is in a Secret; UserError if it is not there."""
        found = self._api.get("v1", "Secret", name, self._namespace)
        if found is None:
            raise UserError(
                f"Secret {self._namespace}/{name} does not exist: create it with the keys "
                "token and ca.crt."
            )
        return {k: base64.b64decode(v).decode() for k, v in (found.get("data") or {}).items()}

    def _workload(self) -> Json:
        for kind in ("StatefulSet", "Deployment"):
            found = self._api.get("apps/v1", kind, f"{self._name}-connect", self._namespace)
            if found is not None:
                return found
        raise UserError(
            f"No deployment {self._name} is in namespace {self._namespace}: "
            "`penstock deploy apply` makes one."
        )

    def _live(self, wanted: Json) -> Json | None:
        meta = wanted["metadata"]
        try:
            return self._api.get(
                wanted["apiVersion"], wanted["kind"], meta["name"], meta["namespace"]
            )
        except KubeError as error:
            if error.status == 404:
                return None
            raise


def _identity(found: Mapping[str, Any]) -> tuple[str, str]:
    return str(found["kind"]), str(found["metadata"]["name"])


def _title(found: Mapping[str, Any]) -> str:
    return "/".join(_identity(found))


def _verb(before: Json | None, after: Json) -> str:
    if before is None:
        return "created"
    same = before["metadata"]["resourceVersion"] == after["metadata"]["resourceVersion"]
    return "unchanged" if same else "changed"


def _difference(title: str, before: Json | None, after: Json | None) -> str:
    old, new = (_plain(side).splitlines(keepends=True) for side in (before, after))
    return "".join(difflib.unified_diff(old, new, f"live/{title}", f"new/{title}"))


def _plain(side: Json | None) -> str:
    if side is None:
        return ""
    meta = {key: value for key, value in side["metadata"].items() if key not in NOISE}
    kept = {key: value for key, value in side.items() if key != "status"}
    return to_yaml([{**kept, "metadata": meta}])
