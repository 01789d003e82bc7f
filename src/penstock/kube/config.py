"""Where the API server is and who we are: from a kubeconfig file, or a pod's own account."""

from __future__ import annotations

import base64
import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.kube.errors import KubeUnavailable

IN_POD = Path("/var/run/secrets/kubernetes.io/serviceaccount")
NEXT = "Set KUBECONFIG to a kubeconfig file that kubectl can use, or give --kubeconfig."


@dataclass(frozen=True)
class KubeConfig:
    """An API server and a user of it. PEM texts; empty where not wanted.

    ``token_file`` is read before every request, since tokens of pods are renewed.
    """

    server: str
    namespace: str = "default"
    ca: bytes = b""
    insecure: bool = False
    token: str = field(default="", repr=False)
    token_file: Path | None = None
    certificate: bytes = field(default=b"", repr=False)
    key: bytes = field(default=b"", repr=False)

    def bearer(self) -> str:
        """The token to send now; empty for none."""
        return self.token_file.read_text().strip() if self.token_file else self.token


def load_config(file: str | None = None, context: str | None = None) -> KubeConfig:
    """From ``file``, else KUBECONFIG, else a pod's mount, else ~/.kube/config; KubeUnavailable."""
    chosen = file or os.environ.get("KUBECONFIG", "")
    if not chosen and (IN_POD / "token").exists():
        return _in_pod()
    path = Path(chosen.split(os.pathsep)[0] or "~/.kube/config").expanduser()
    return _from_file(path, context)


def _in_pod() -> KubeConfig:
    host = os.environ.get("KUBERNETES_SERVICE_HOST", "kubernetes.default.svc")
    port = os.environ.get("KUBERNETES_SERVICE_PORT", "443")
    return KubeConfig(
        server=f"https://{f'[{host}]' if ':' in host else host}:{port}",
        namespace=(IN_POD / "namespace").read_text().strip(),
        ca=(IN_POD / "ca.crt").read_bytes(),
        token_file=IN_POD / "token",
    )


def _from_file(path: Path, context: str | None) -> KubeConfig:
    content = _read(path)
    chosen = context or content.get("current-context", "")
    try:
        place = _named(content, "contexts", "context", chosen)
        cluster = _named(content, "clusters", "cluster", place["cluster"])
        user = _named(content, "users", "user", place["user"])
        server = cluster["server"].rstrip("/")
    except (KeyError, TypeError, AttributeError, StopIteration) as error:
        raise KubeUnavailable(f"{path}: context {chosen!r} is incomplete. {NEXT}") from error
    user = {**user, **_from_program(user.get("exec"))}
    token_file = user.get("tokenFile")
    return KubeConfig(
        server=server,
        namespace=place.get("namespace") or "default",
        ca=_pem(cluster, "certificate-authority", path.parent),
        insecure=bool(cluster.get("insecure-skip-tls-verify", False)),
        token=str(user.get("token", "")),
        token_file=path.parent / token_file if token_file else None,
        certificate=_pem(user, "client-certificate", path.parent),
        key=_pem(user, "client-key", path.parent),
    )


def _read(path: Path) -> dict[str, Any]:
    import yaml

    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise KubeUnavailable(
            f"No Kubernetes is known: {path}: {error.strerror}. {NEXT}"
        ) from error
    except yaml.YAMLError as error:
        raise KubeUnavailable(f"{path} is not YAML: {error}. {NEXT}") from error
    if not isinstance(content, dict):
        raise KubeUnavailable(f"{path} is not a kubeconfig file. {NEXT}")
    return content


def _named(content: Mapping[str, Any], kind: str, inner: str, name: str) -> dict[str, Any]:
    return next(dict(entry[inner]) for entry in content[kind] if entry["name"] == name)


def _pem(entry: Mapping[str, Any], key: str, folder: Path) -> bytes:
    if data := entry.get(f"{key}-data"):
        return base64.b64decode(data)
    if file := entry.get(key):
        return Path(folder / file).read_bytes()
    return b""


def _from_program(wanted: Mapping[str, Any] | None) -> dict[str, Any]:
    """What a credential plugin prints, as clouds use them."""
    if not wanted:
        return {}
    command = [str(wanted["command"]), *map(str, wanted.get("args") or ())]
    given = {entry["name"]: entry["value"] for entry in wanted.get("env") or ()}
    info: dict[str, Any] = {
        "apiVersion": wanted.get("apiVersion"),
        "kind": "ExecCredential",
        "spec": {},
    }
    status = _run(command, {**os.environ, **given, "KUBERNETES_EXEC_INFO": json.dumps(info)})
    return {
        "token": status.get("token", ""),
        "client-certificate-data": _encoded(status.get("clientCertificateData")),
        "client-key-data": _encoded(status.get("clientKeyData")),
    }


def _run(command: Sequence[str], environment: Mapping[str, str]) -> dict[str, Any]:
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return dict(json.loads(done.stdout)["status"])
    except (OSError, subprocess.CalledProcessError, ValueError, KeyError) as error:
        raise KubeUnavailable(
            f"The credential program {command[0]} of your kubeconfig failed: {error}. Run "
            "`kubectl get ns` to see what it wants."
        ) from error


def _encoded(text: str | None) -> str:
    return base64.b64encode(text.encode()).decode() if text else ""
