"""Requests to the API server: objects in, objects out, as plain dicts."""

from __future__ import annotations

import ssl
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx

from penstock.kube.config import KubeConfig
from penstock.kube.errors import KubeError, KubeUnavailable
from penstock.kube.kinds import Kinds

Json = dict[str, Any]
MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY = "application/apply-patch+yaml"
TIMEOUT_SECONDS = 30.0
MANAGER = "penstock"
BUSY_SECONDS = 30.0
LONGEST_PAUSE_SECONDS = 5.0


class KubeApi:
    """Talks to one API server. Thread-safe; close it at the end.

    Every method may raise KubeError (refused) or KubeUnavailable (no answer). Kinds are named
    by ``apiVersion`` and ``kind``, as in a manifest; ``namespace`` is ignored for those without.
    A server that asks for a later try (Retry-After) gets it, for up to `BUSY_SECONDS`.
    """

    def __init__(self, config: KubeConfig, counted: Callable[[str], None] = lambda _: None) -> None:
        self.config = config
        self._counted = counted
        self._http = httpx.Client(
            base_url=config.server,
            timeout=TIMEOUT_SECONDS,
            verify=_context(config) if config.server.startswith("https") else True,
        )
        self._kinds = Kinds(lambda path: self.request("GET", path))

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        kind: str = "application/json",
        **params: str,
    ) -> Json:
        """One request; what was answered."""
        import json

        headers = {"Content-Type": kind} if body is not None else {}
        content = None if body is None else json.dumps(body)
        request = self._http.build_request(
            method, path, params=params, headers=headers, content=content
        )
        give_up = time.monotonic() + BUSY_SECONDS
        while True:
            answer = self._send(request)
            pause = _asked_pause(answer)
            if pause is None or time.monotonic() + pause > give_up:
                return _object(answer)
            time.sleep(pause)

    def _send(self, request: httpx.Request) -> httpx.Response:
        if token := self.config.bearer():
            request.headers["Authorization"] = f"Bearer {token}"
        self._counted(request.method)
        try:
            return self._http.send(request)
        except httpx.TransportError as error:
            raise KubeUnavailable(
                f"No answer from the Kubernetes API at {self.config.server} ({error}). Does "
                "`kubectl get ns` work?"
            ) from error

    def get(self, version: str, kind: str, name: str, namespace: str = "") -> Json | None:
        """An object, or None."""
        try:
            return self.request("GET", self._kinds.path(version, kind, namespace, name))
        except KubeError as error:
            if error.status == 404:
                return None
            raise

    def all(
        self, version: str, kind: str, namespace: str = "", labels: Mapping[str, str] | None = None
    ) -> list[Json]:
        """All objects of a kind, of one namespace or of all (empty), with all of ``labels``."""
        selector = ",".join(f"{key}={value}" for key, value in (labels or {}).items())
        path = self._kinds.path(version, kind, namespace)
        found = self.request("GET", path, **({"labelSelector": selector} if selector else {}))
        # The server leaves both out of a list's items.
        return [{"apiVersion": version, "kind": kind, **item} for item in found["items"]]

    def create(self, body: Json, *, dry_run: bool = False) -> Json:
        """Create an object; 409 if it is there already."""
        path = self._kinds.path(body["apiVersion"], body["kind"], _namespace(body))
        return self.request("POST", path, body, **_dry(dry_run))

    def replace(self, body: Json) -> Json:
        """Put an object in the place of the one that ``body`` was read from; 409 if it changed."""
        return self.request("PUT", self._path_of(body), body)

    def merge(self, body: Json, patch: Json, part: str = "") -> Json:
        """Change an object, or its ``status``, by what is in ``patch``; None deletes a key."""
        path = self._path_of(body)
        return self.request("PATCH", f"{path}/{part}" if part else path, patch, MERGE)

    def json_patch(self, body: Json, operations: Sequence[Json]) -> Json:
        """Change an object by operations of JSON patch; 422 if a test of them fails."""
        return self.request("PATCH", self._path_of(body), operations, JSON_PATCH)

    def apply(
        self, body: Json, *, manager: str = MANAGER, dry_run: bool = False, strict: bool = True
    ) -> Json:
        """Server-side apply: create an object, or make the fields that we manage so."""
        params = {"fieldManager": manager, "force": "true", **_dry(dry_run)}
        if strict:
            params["fieldValidation"] = "Strict"
        return self.request("PATCH", self._path_of(body), body, APPLY, **params)

    def delete(self, body: Json) -> bool:
        """Delete an object and, after it, what it owns; False if it was not there."""
        try:
            self.request("DELETE", self._path_of(body), {"propagationPolicy": "Background"})
        except KubeError as error:
            if error.status == 404:
                return False
            raise
        return True

    def _path_of(self, body: Json) -> str:
        name = body["metadata"]["name"]
        return self._kinds.path(body["apiVersion"], body["kind"], _namespace(body), name)


def _namespace(body: Json) -> str:
    return str(body["metadata"].get("namespace", ""))


def _dry(wanted: bool) -> dict[str, str]:
    return {"dryRun": "All"} if wanted else {}


def _asked_pause(answer: httpx.Response) -> float | None:
    """How long the server asks us to wait before the same request again; None if it does not.

    It asks so when it has not begun with the request: it is busy, or a new kind is being set up.
    """
    asked = answer.headers.get("Retry-After", "")
    if not (answer.status_code == 429 or answer.status_code >= 500) or not asked.isdigit():
        return None
    return min(float(asked), LONGEST_PAUSE_SECONDS)


def _object(answer: httpx.Response) -> Json:
    try:
        content = answer.json()
    except ValueError:
        content = {}
    if not isinstance(content, dict):
        content = {}
    if answer.is_success:
        return content
    message = content.get("message") or f"HTTP {answer.status_code} {answer.reason_phrase}"
    raise KubeError(answer.status_code, str(content.get("reason", "")), str(message))


def _context(config: KubeConfig) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=config.ca.decode() or None)
    if config.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if config.certificate:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "client.pem"
            file.touch(mode=0o600)
            file.write_bytes(config.certificate + b"\n" + config.key)
            context.load_cert_chain(file)
    return context
