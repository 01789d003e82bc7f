"""Which path a kind has: asked of the API server once for each group and version."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.kube.errors import KubeError


class Kinds:
    """Paths of objects. Thread-safe: two threads may ask for the same, which does no harm."""

    def __init__(self, ask: Callable[[str], dict[str, Any]]) -> None:
        self._ask = ask
        self._known: dict[str, dict[str, tuple[str, bool]]] = {}

    def path(self, version: str, kind: str, namespace: str = "", name: str = "") -> str:
        """Of one object, or of all of a kind; KubeError if the server has no such kind."""
        plural, namespaced = self._find(version, kind)
        parts = [_root(version)]
        if namespaced and namespace:
            parts.append(f"namespaces/{namespace}")
        parts.append(plural)
        if name:
            parts.append(name)
        return "/".join(parts)

    def _find(self, version: str, kind: str) -> tuple[str, bool]:
        known = self._known.get(version, {})
        if kind not in known:
            known = self._known[version] = self._asked(version, kind)
        if kind not in known:
            raise _unknown(version, kind)
        return known[kind]

    def _asked(self, version: str, kind: str) -> dict[str, tuple[str, bool]]:
        try:
            found = self._ask(_root(version))["resources"]
        except KubeError as error:
            raise (_unknown(version, kind) if error.status == 404 else error) from error
        return {r["kind"]: (r["name"], r["namespaced"]) for r in found if "/" not in r["name"]}


def _root(version: str) -> str:
    return f"/apis/{version}" if "/" in version else f"/api/{version}"


def _unknown(version: str, kind: str) -> KubeError:
    return KubeError(
        404,
        "NotFound",
        f"This cluster has no kind {kind} of {version}. Is its CRD installed? For Penstock's own: "
        "`penstock operator manifests --crds | kubectl apply -f -`.",
    )
