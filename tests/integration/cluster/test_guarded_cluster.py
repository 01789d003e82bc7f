"""A cluster with users and TLS: what is passed on to the leader, and what is not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from certificates import Certificate, make_authority, make_certificate
from clusters import running
from free_ports import free_port
from own_cluster import own_topics
from penstock.client import ConnectApiError, ConnectClient, Credentials
from penstock.embedded import EmbeddedBroker
from penstock.rest.access.hashed_secrets import hashed
from waiting import eventually
from worker_process import WorkerProcess

pytestmark = pytest.mark.heavy

SECRET = "a secret of some length"
USERS = {"ann": "read", "bob": "operate"}
CONFIG = {"connector.class": "FileStreamSource", "file": "/no/such/file", "topic": "none"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("guarded-cluster")
    lines = [f"{user}:{role}:{hashed(SECRET)}\n" for user, role in USERS.items()]
    (folder / "users").write_text("".join(lines))
    return folder


@pytest.fixture(scope="module")
def workers(folder: Path, broker: EmbeddedBroker) -> Iterator[list[WorkerProcess]]:
    """A leader, a follower, and one that takes only another authority's word for its peers."""
    ours, others = make_authority(folder, "ours"), make_authority(folder, "others")
    made = [
        guarded(folder, broker, make_certificate(folder, name, ours), believed)
        for name, believed in (("leader", ours), ("follower", ours), ("estranged", others))
    ]
    with running(made):
        yield made
    for worker in made:
        worker.client.close()


def guarded(
    folder: Path, broker: EmbeddedBroker, own: Certificate, believed: Certificate
) -> WorkerProcess:
    """A worker that shows the certificate ``own``, to peers that ``believed`` has signed."""
    worker = WorkerProcess(
        folder / own.key.stem,
        port=free_port(),
        bootstrap_servers=broker.bootstrap_servers,
        properties={
            **own_topics("guarded-cluster"),
            "rest.auth.users.file": str(folder / "users"),
            "rest.ssl.certificate.file": str(own.certificate),
            "rest.ssl.key.file": str(own.key),
            "rest.ssl.peer.ca.file": str(believed.certificate),
        },
    )
    worker.url = worker.url.replace("http:", "https:")
    worker.client = client_of(worker)
    return worker


def client_of(worker: WorkerProcess, user: str = "") -> ConnectClient:
    token = f"{user}.{SECRET}" if user else ""
    trusted = str(worker.folder.parent / "ours.crt")
    return ConnectClient(worker.url, credentials=Credentials(token=token, ca_file=trusted))


def refusal(worker: WorkerProcess, user: str, name: str) -> ConnectApiError | None:
    """What ``worker`` says to a create; None if it is done."""
    with client_of(worker, user) as client:
        try:
            client.create(name, CONFIG, initial_state="STOPPED")
        except ConnectApiError as refused:
            return refused
    return None


def audit_of(worker: WorkerProcess, connector: str) -> list[dict[str, Any]]:
    told = [line for line in worker.log().splitlines() if "penstock.audit" in line]
    lines = [json.loads(line[line.index("{") :]) for line in told]
    return [line for line in lines if connector in (line["connector"], line["what"])]


def known_to(worker: WorkerProcess) -> list[str]:
    with client_of(worker, "ann") as client:
        return client.connectors()


def test_a_change_is_passed_on_to_the_leader_in_the_name_of_its_user(
    workers: list[WorkerProcess], name: str
) -> None:
    leader, follower, _ = workers
    eventually(lambda: refusal(follower, "bob", name) is None, what="a cluster that has settled")
    assert name in known_to(leader)
    (line,) = eventually(lambda: audit_of(leader, name), what="a line of the audit")
    told = {key: line[key] for key in ("who", "from", "what", "outcome")}
    assert told == {"who": "bob", "from": "127.0.0.1", "what": "create", "outcome": "done"}
    assert audit_of(follower, name) == []


def test_a_role_counts_on_the_follower_too(workers: list[WorkerProcess], name: str) -> None:
    leader, follower, _ = workers
    refused = refusal(follower, "ann", name)
    assert refused is not None
    assert refused.status == 403
    assert "needs the role operate, and ann has the role read" in str(refused)
    (line,) = eventually(lambda: audit_of(follower, "POST /connectors"), what="a line")
    assert (line["who"], line["outcome"]) == ("ann", "refused: 403")
    assert name not in known_to(leader)


def test_a_leader_that_another_authority_vouches_for_is_sent_nothing(
    workers: list[WorkerProcess], name: str
) -> None:
    leader, _, estranged = workers
    eventually(lambda: refused_for_its_certificate(estranged, name), what="a refusal")
    assert name not in known_to(leader)
    assert audit_of(leader, name) == []
    assert SECRET not in "".join(worker.log() + worker.output() for worker in workers)


def refused_for_its_certificate(estranged: WorkerProcess, name: str) -> bool:
    refused = refusal(estranged, "bob", name)
    assert refused is not None
    assert refused.status == 409
    passed_on = "could not forward a request to the leader: worker "
    lines = [line for line in estranged.log().splitlines() if passed_on in line]
    return any("certificate verify failed" in line for line in lines)
