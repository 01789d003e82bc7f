"""A real Kubernetes API server for tests: etcd and kube-apiserver as child processes.

There is no kubelet, so pods stay Pending and a Service's address leads nowhere; without the
controller manager, namespaces are never quite deleted and nothing owned is collected.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import yaml

from certificates import Certificate, make_authority, make_certificate
from free_ports import free_port
from penstock.kube import KubeApi, KubeConfig
from waiting import eventually

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "kube_api.sh"
NO_GO = 3
SERVER_NAMES = "DNS:localhost,DNS:kubernetes.default.svc,IP:127.0.0.1,IP:10.0.0.1"
Json = dict[str, Any]


class GoMissing(Exception):  # noqa: N818 (named for what is the case)
    """There is no Go to build the API server with."""


def programs() -> Path:
    """The folder of kube-apiserver, etcd and kubectl, built first where they are missing."""
    built = subprocess.run([str(SCRIPT), "build"], stdout=subprocess.PIPE, text=True, check=False)
    if built.returncode == NO_GO:
        raise GoMissing
    assert built.returncode == 0, "scripts/kube_api.sh build failed (see above)"
    return Path(built.stdout.strip())


class KubeServer:
    """An API server with an administrator's kubeconfig; `user` makes others."""

    def __init__(self, folder: Path, bin_: Path) -> None:
        self.folder, self._bin = folder, bin_
        self.port, self._etcd, self._peer = free_port(), free_port(), free_port()
        self._processes: list[subprocess.Popen[bytes]] = []
        self._authority = make_authority(folder, "kube-ca")
        names = SERVER_NAMES
        self._server = make_certificate(folder, "kube-server", self._authority, names=names)
        self._accounts = make_certificate(folder, "kube-accounts", self._authority)
        self.kubeconfig = self.user("admin", "/O=system:masters/CN=admin")
        self.api = KubeApi(self.config("admin"))

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start both and wait until they are ready."""
        self._spawn("etcd", *self._etcd_options())
        self._spawn("kube-apiserver", *self._server_options())
        trusted = str(self._authority.certificate)
        with httpx.Client(verify=_context(trusted), trust_env=False) as http:
            eventually(lambda: self._is_ready(http), within=90, what="the API server", every=0.1)

    def _is_ready(self, http: httpx.Client) -> bool:
        for process in self._processes:
            assert process.poll() is None, f"it ended: see the logs in {self.folder}"
        try:
            return http.get(f"{self.url}/readyz").status_code == 200
        except httpx.TransportError:
            return False

    def start_controllers(self) -> None:
        """Start what deletes namespaces and what is owned, and makes pods of Deployments."""
        self._spawn(
            "kube-controller-manager",
            f"--kubeconfig={self.kubeconfig}",
            "--leader-elect=false",
            "--secure-port=0",
            f"--service-account-private-key-file={self._accounts.key}",
            "--controllers=namespace-controller,garbage-collector-controller,"
            "deployment-controller,replicaset-controller,statefulset-controller",
        )

    def stop(self) -> None:
        """End them all."""
        self.api.close()
        for process in reversed(self._processes):
            process.terminate()
        for process in reversed(self._processes):
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()  # it waits for its watchers
                process.wait(30)

    def user(self, name: str, subject: str = "") -> Path:
        """The kubeconfig of a user, by a certificate."""
        owner = subject or f"/CN={name}"
        made = make_certificate(self.folder, f"user-{name}", self._authority, owner)
        file = self.folder / f"{name}.kubeconfig"
        file.write_text(yaml.safe_dump(self._kubeconfig(name, made)))
        return file

    def config(self, name: str) -> KubeConfig:
        """The same for our own client."""
        made = Certificate(self.folder / f"user-{name}.crt", self.folder / f"user-{name}.key")
        return KubeConfig(
            self.url,
            ca=self._authority.certificate.read_bytes(),
            certificate=made.certificate.read_bytes(),
            key=made.key.read_bytes(),
        )

    def http(self) -> httpx.Client:
        """Asks as the administrator; a watch may be silent for long."""
        context = _context(str(self._authority.certificate))
        context.load_cert_chain(self.folder / "user-admin.crt", self.folder / "user-admin.key")
        return httpx.Client(base_url=self.url, verify=context, timeout=600, trust_env=False)

    def kubectl(
        self, *arguments: str, stdin: str = "", kubeconfig: Path | None = None, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """What a user would type."""
        environment = {**os.environ, "KUBECONFIG": str(kubeconfig or self.kubeconfig)}
        done = subprocess.run(
            [str(self._bin / "kubectl"), *arguments],
            input=stdin,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert not check or done.returncode == 0, f"kubectl {' '.join(arguments)}: {done.stderr}"
        return done

    def json(self, *arguments: str) -> Any:
        """What kubectl shows, as JSON."""
        return json.loads(self.kubectl(*arguments, "-o", "json").stdout)

    def _kubeconfig(self, name: str, made: Certificate) -> Json:
        cluster = {"server": self.url, "certificate-authority-data": _encoded(self._authority)}
        user = {
            "client-certificate-data": _encoded(made),
            "client-key-data": base64.b64encode(made.key.read_bytes()).decode(),
        }
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": name, "user": user}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": name}}],
            "current-context": "test",
        }

    def _spawn(self, program: str, *options: str) -> None:
        with (self.folder / f"{program}.log").open("wb") as log:
            command = [str(self._bin / program), *options]
            self._processes.append(subprocess.Popen(command, stdout=log, stderr=log))

    def _etcd_options(self) -> list[str]:
        client = f"http://127.0.0.1:{self._etcd}"
        peer = f"http://127.0.0.1:{self._peer}"
        return [
            "--name=test",
            f"--data-dir={self.folder / 'etcd'}",
            "--unsafe-no-fsync",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=test={peer}",
            "--log-level=warn",
        ]

    def _server_options(self) -> list[str]:
        return [
            f"--etcd-servers=http://127.0.0.1:{self._etcd}",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            f"--secure-port={self.port}",
            f"--cert-dir={self.folder / 'certs'}",
            f"--tls-cert-file={self._server.certificate}",
            f"--tls-private-key-file={self._server.key}",
            f"--client-ca-file={self._authority.certificate}",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={self._accounts.certificate}",
            f"--service-account-signing-key-file={self._accounts.key}",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--authorization-mode=RBAC",
            "--disable-admission-plugins=ServiceAccount",
            "--endpoint-reconciler-type=none",
        ]


@contextmanager
def kube_server(folder: Path) -> Iterator[KubeServer]:
    """One that runs; GoMissing where it cannot be built."""
    server = KubeServer(folder, programs())
    try:
        server.start()
        yield server
    finally:
        server.stop()


def _encoded(pair: Certificate) -> str:
    return base64.b64encode(pair.certificate.read_bytes()).decode()


def _context(trusted: str) -> Any:
    import ssl

    return ssl.create_default_context(cafile=trusted)


def ready(resource: Mapping[str, Any]) -> str:
    """The status of the condition Ready, empty if there is none."""
    conditions = (resource.get("status") or {}).get("conditions", ())
    return next((c["status"] for c in conditions if c["type"] == "Ready"), "")
