"""`penstock up` with users, TLS and allowed folders, as an operator would open it to others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from certificates import make_authority, make_certificate
from failures import failure
from free_ports import free_port
from own_cluster import own_topics
from penstock.client import ConnectApiError, ConnectClient, Credentials
from penstock.embedded import EmbeddedBroker
from penstock.rest.access.hashed_secrets import hashed
from topics import Topics
from waiting import eventually
from worker_process import WorkerProcess

SECRET = "a secret of some length"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "allowed").mkdir()
    (tmp_path / "users").write_text(f"ann:read:{hashed(SECRET)}\n")
    return tmp_path


@pytest.fixture
def guarded(folder: Path, name: str, broker: EmbeddedBroker) -> Iterator[WorkerProcess]:
    """The worker, started; its client knows its certificate but has no token."""
    own = make_certificate(folder, "worker", make_authority(folder, "authority"))
    properties = {
        **own_topics(name),
        "rest.auth.users.file": str(folder / "users"),
        "rest.ssl.certificate.file": str(own.certificate),
        "rest.ssl.key.file": str(own.key),
        "file.allowed.roots": str(folder / "allowed"),
        "lease.max.ms": "8000",
    }
    process = WorkerProcess(
        folder,
        port=free_port(),
        bootstrap_servers=broker.bootstrap_servers,
        properties=properties,
    )
    process.url = process.url.replace("http:", "https:")
    process.client = client_of(process)
    process.start()
    yield process
    process.close()
    process.client.close()


def client_of(process: WorkerProcess, token: str = "") -> ConnectClient:
    trusted = str(process.folder / "authority.crt")
    return ConnectClient(process.url, credentials=Credentials(token=token, ca_file=trusted))


@pytest.mark.heavy
def test_a_guarded_worker(guarded: WorkerProcess, folder: Path, name: str, topics: Topics) -> None:
    (note,) = (folder / "state").glob("up-*.json")
    token = json.loads(note.read_text())["token"]
    with client_of(guarded, token) as own, client_of(guarded, f"ann.{SECRET}") as ann:
        works_within_its_limits(guarded, own, ann, folder, name, topics)
    log = guarded.log()
    audit = [line for line in log.splitlines() if "penstock.audit" in line]
    assert any('"who": "local"' in line and '"what": "create"' in line for line in audit)
    assert any('"who": "ann"' in line and "refused: 403" in line for line in audit)
    for secret in (token, SECRET, "hunter2-and-more"):
        assert secret not in log + guarded.output()


def works_within_its_limits(
    guarded: WorkerProcess,
    own: ConnectClient,
    ann: ConnectClient,
    folder: Path,
    name: str,
    topics: Topics,
) -> None:
    """Users do what their role allows, and a connector reads what is in the allowed folder."""
    link, inside, outside = (folder / p for p in ("allowed/link", "allowed/in", "secret"))
    inside.write_text("a\n")
    outside.write_text("secret\n" * 2)
    link.symlink_to(inside)
    config = {
        "connector.class": "FileStreamSource",
        "file": str(link),
        "topic": name,
        "vendor.password": "hunter2-and-more",
    }
    topics.create(name)

    assert refusal(guarded.client, name, config) == 401
    assert refusal(ann, name, config) == 403
    assert refusal(own, name, {**config, "file": str(outside)}) == 400
    own.create(name, config)
    eventually(lambda: len(topics.values(name)) == 1, what="the line")
    assert ann.config(name)["vendor.password"] == "[hidden]"
    assert "file.allowed.roots" not in ann.tasks(name)[0]["config"]

    link.unlink()
    link.symlink_to(outside)
    own.restart(name, include_tasks=True)
    trace = eventually(lambda: failure(ann, name), what="a refusal of the task")
    assert "is not in a folder that file connectors of this worker may use" in trace
    assert len(topics.values(name)) == 1


def refusal(client: ConnectClient, name: str, config: dict[str, str]) -> int:
    """The status with which a create is refused."""
    with pytest.raises(ConnectApiError) as refused:
        client.create(name, config)
    return refused.value.status
