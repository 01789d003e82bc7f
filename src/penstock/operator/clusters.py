"""The Connect clusters that resources name by their label, and clients of them."""

from __future__ import annotations

import base64
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from penstock.client import ConnectClient, Credentials
from penstock.kube import KubeApi
from penstock.operator.errors import InvalidResource, NoSuchCluster
from penstock.operator.names import API_VERSION, CLUSTER_LABEL, CONNECT

Json = dict[str, Any]
FRESH_SECONDS = 2.0
TIMEOUT_SECONDS = 30.0
PORT = 8083
FILES = {"ca_file": "ca.crt", "certificate": "tls.crt", "key": "tls.key"}


class Clusters:
    """Finds a resource's cluster. Thread-safe; a cluster is looked up at most every 2 s."""

    def __init__(self, api: KubeApi) -> None:
        self._api = api
        self._lock = threading.Lock()
        self._seen: dict[tuple[str, str], tuple[float, Json | None]] = {}
        self._clients: dict[tuple[str, Credentials], ConnectClient] = {}
        self._folder = tempfile.TemporaryDirectory(prefix="penstock-operator-")

    def close(self) -> None:
        """Close all connections."""
        for client in self._clients.values():
            client.close()
        self._folder.cleanup()

    def client_of(self, resource: Json) -> ConnectClient:
        """A client of the cluster that the resource's label names; NoSuchCluster says why not."""
        meta = resource["metadata"]
        name = (meta.get("labels") or {}).get(CLUSTER_LABEL)
        namespace = meta["namespace"]
        if not name:
            raise InvalidResource(
                f"Resource lacks label '{CLUSTER_LABEL}': No connect cluster in which to create "
                "this connector. Add the label, with the name of a KafkaConnect."
            )
        cluster = self._find(namespace, name)
        if cluster is None:
            raise NoSuchCluster(
                f"KafkaConnect resource '{name}' identified by label '{CLUSTER_LABEL}' does not "
                f"exist in namespace {namespace}."
            )
        spec = cluster.get("spec") or {}
        if spec.get("replicas") == 0 and not spec.get("url"):
            raise NoSuchCluster(
                f"Kafka Connect cluster '{name}' in namespace {namespace} has 0 replicas."
            )
        return self.client_to(cluster)

    def client_to(self, cluster: Json) -> ConnectClient:
        """A client of the cluster that a KafkaConnect describes."""
        spec, namespace = cluster.get("spec") or {}, cluster["metadata"]["namespace"]
        return self._client(address(cluster), self._credentials(namespace, spec))

    def _find(self, namespace: str, name: str) -> Json | None:
        key, now = (namespace, name), time.monotonic()
        with self._lock:
            at, known = self._seen.get(key, (float("-inf"), None))
        if known is not None and now - at < FRESH_SECONDS:
            return known
        found = self._api.get(API_VERSION, CONNECT, name, namespace)
        with self._lock:
            self._seen[key] = (now, found)
        return found

    def _client(self, url: str, credentials: Credentials) -> ConnectClient:
        with self._lock:
            key = (url, credentials)
            if key not in self._clients:
                self._clients[key] = ConnectClient(url, TIMEOUT_SECONDS, credentials=credentials)
            return self._clients[key]

    def _credentials(self, namespace: str, spec: Json) -> Credentials:
        name = spec.get("credentialsSecret")
        if not name:
            return Credentials()
        secret = self._api.get("v1", "Secret", name, namespace)
        if secret is None:
            raise NoSuchCluster(
                f"Secret {namespace}/{name}, which spec.credentialsSecret names, does not exist. "
                "Create it with the keys token and ca.crt."
            )
        data = {key: base64.b64decode(text) for key, text in (secret.get("data") or {}).items()}
        version = secret["metadata"]["resourceVersion"]
        files = {
            field: self._file(f"{namespace}-{name}-{version}-{key}", data[key])
            for field, key in FILES.items()
            if key in data
        }
        return Credentials(token=data.get("token", b"").decode().strip(), **files)

    def _file(self, name: str, content: bytes) -> str:
        file = Path(self._folder.name) / name
        if not file.exists():
            file.touch(mode=0o600)
            file.write_bytes(content)
        return str(file)


def address(cluster: Json) -> str:
    """Where a cluster's REST is: what its spec or status says, else its Service."""
    spec, meta = cluster.get("spec") or {}, cluster["metadata"]
    told = spec.get("url") or (cluster.get("status") or {}).get("url")
    scheme = "http" if spec.get("insecure") else "https"
    return str(told or f"{scheme}://{meta['name']}-connect-api.{meta['namespace']}.svc:{PORT}")
