"""The ACLs in SECURITY.md suffice for a worker, and without one of them it says what it lacks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from confluent_kafka.admin import AclOperation

from acl_table import Row, worker_rows
from failures import failure
from files import lines_of
from free_ports import free_port
from guarded_broker import GuardedBroker
from penstock.client import ConnectClient
from penstock.embedded import Jars, Java
from topics import Topics
from waiting import WaitRanOut, eventually
from worker_process import WorkerProcess

pytestmark = pytest.mark.heavy

USER, SECRET = "connect", "of-the-worker"
WRITTEN, READ, LETTERS = "written", "read", "letters"
DESCRIBED = {
    "topics of source connectors": [WRITTEN],
    "dead letter topics": [LETTERS],
    "topics of sink connectors": [READ],
}
INTERNAL = (
    "penstock-configs",
    "penstock-offsets",
    "penstock-status",
    "penstock-workers",
    "penstock-sink-offsets",
)
JSON = {"value.converter": "JsonConverter", "value.converter.schemas.enable": "false"}


@pytest.fixture(scope="module")
def guarded_broker(
    tmp_path_factory: pytest.TempPathFactory, java: Java, jars: Jars
) -> Iterator[GuardedBroker]:
    made = GuardedBroker(tmp_path_factory.mktemp("guarded"), java, jars, {USER: SECRET})
    with made.broker:
        yield made


@pytest.fixture
def guarded(guarded_broker: GuardedBroker) -> Iterator[GuardedBroker]:
    """Without any ACL, and afterwards without any topic of a test."""
    yield guarded_broker
    guarded_broker.revoke(USER)
    topics = guarded_broker.topics
    known = topics.admin.list_topics(timeout=20).topics
    for topic in known.keys() & {*INTERNAL, WRITTEN, READ, LETTERS}:
        topics.delete(topic)


@pytest.fixture
def worker(guarded: GuardedBroker, tmp_path: Path) -> Iterator[WorkerProcess]:
    """A worker with the default names, which are those of the table; not started."""
    process = WorkerProcess(
        tmp_path / "worker",
        port=free_port(),
        bootstrap_servers=guarded.address,
        properties={
            **guarded.settings(USER),
            "connector.client.config.override.policy": "All",
            "offset.storage.partitions": "2",
            "status.storage.partitions": "1",
            "lease.max.ms": "8000",
            "spark.master": "local[4]",
            "spark.driver.memory": "512m",
        },
    )
    yield process
    try:
        if process.process is not None:
            process.stop()  # who is killed stays in the group until its session is over
    finally:
        process.close()


def grant(guarded: GuardedBroker, rows: list[Row]) -> None:
    guarded.grant(acl for row in rows for acl in row.acls(f"User:{USER}", DESCRIBED))


def source(file: Path) -> dict[str, str]:
    return {"connector.class": "FileStreamSource", "file": str(file), "topic": WRITTEN}


def sink(file: Path) -> dict[str, str]:
    return {
        "connector.class": "FileStreamSink",
        "file": str(file),
        "topics": READ,
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": LETTERS,
        "errors.deadletterqueue.topic.replication.factor": "1",
        **JSON,
    }


def moves(worker: WorkerProcess, topics: Topics, folder: Path, number: int) -> None:
    """A line out of a file, a record into one, and a bad record to the dead letters."""
    with (folder / "in").open("a") as lines:
        lines.write(f"line {number}\n")
    topics.produce(READ, [f'"record {number}"'.encode(), b"no JSON"])
    counts = partial(moved, topics, folder / "out")
    try:
        eventually(lambda: counts() == (number, number, number), every=0.3)
    except WaitRanOut:
        raise WaitRanOut(f"{counts()}; {worker.client.expanded('status')}") from None


def moved(topics: Topics, out: Path) -> tuple[int, int, int]:
    """How many records of the source, dead letters, and lines of the sink there are."""
    return len(topics.values(WRITTEN)), len(topics.values(LETTERS)), len(lines_of(out))


def test_the_listed_acls_suffice(
    guarded: GuardedBroker, worker: WorkerProcess, tmp_path: Path
) -> None:
    grant(guarded, worker_rows())
    topics = guarded.topics
    topics.create(READ)
    worker.start(within=120)
    client = worker.client
    client.create("lines", source(tmp_path / "in"))
    client.create("records", sink(tmp_path / "out"))
    moves(worker, topics, tmp_path, 1)

    # Without Create, since everything is there now.
    assert worker.stop() == 0
    assert guarded.revoke(USER, AclOperation.CREATE)
    worker.start(within=120)
    moves(worker, topics, tmp_path, 2)
    a_group_of_its_choice_takes_as_much(guarded, client, tmp_path / "chosen")
    offsets_can_be_changed_and_forgotten(client)
    assert SECRET not in worker.log() + worker.output()


def a_group_of_its_choice_takes_as_much(
    guarded: GuardedBroker, client: ConnectClient, file: Path
) -> None:
    """As the groups that are called after sinks."""
    [row] = [row for row in worker_rows() if row.resource.startswith("groups, prefixed")]
    config = {"connector.class": "FileStreamSink", "file": str(file), "topics": READ}
    chosen = {**config, "consumer.override.group.id": "orders"}
    client.create("chosen", chosen)
    assert "use group orders (GROUP_AUTHORIZATION_FAILED" in trace_of(client, "chosen")
    grant(guarded, [Row("group `orders`", row.operations)])
    client.restart("chosen", include_tasks=True)
    eventually(lambda: len(lines_of(file)) == 4, what="what the topic held")
    assert client.offsets("chosen")


def offsets_can_be_changed_and_forgotten(client: ConnectClient) -> None:
    for name in ("lines", "records", "chosen"):
        client.stop(name)
        eventually(lambda name=name: state(client, name) == "STOPPED", what=name)  # type: ignore[misc]  # mypy: a lambda with a default
        offsets = client.offsets(name)
        client.alter_offsets(name, offsets)
        client.reset_offsets(name)
        assert client.offsets(name) == []
        client.delete(name)


def state(client: ConnectClient, name: str) -> str:
    return str(client.status(name)["connector"]["state"])


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ("topics `penstock-configs`", "see or create topic penstock-configs (TOPIC_AUTH"),
        ("group `penstock`", "see group penstock (GROUP_AUTHORIZATION_FAILED"),
        (
            "transactional ids",
            "write as transactional id connect-cluster-penstock (TRANSACTIONAL_ID_AUTH",
        ),
    ],
)
def test_without_a_row_the_worker_does_not_start_and_says_why(
    guarded: GuardedBroker, worker: WorkerProcess, row: str, text: str
) -> None:
    grant(guarded, without(row))
    with pytest.raises(AssertionError, match="the worker ended"):
        worker.start(within=120)
    told = worker.output()
    assert f"Not allowed to {text}" in told
    assert "Give the principal the ACLs that SECURITY.md lists" in told
    assert "Traceback" not in told


def test_without_the_rows_of_sinks_and_sources_they_fail_and_say_why(
    guarded: GuardedBroker, worker: WorkerProcess, tmp_path: Path
) -> None:
    rows = ("groups, prefixed, `connect-`", "topics of sink", "topics of source")
    grant(guarded, without(*rows))
    topics = guarded.topics
    for topic in (READ, WRITTEN):
        topics.create(topic)
    topics.produce(READ, [b'"a record"'])
    (tmp_path / "in").write_text("a line\n")
    worker.start(within=120)
    client = worker.client

    client.create("hidden", sink(tmp_path / "hidden"))
    assert f"see topic {READ} (TOPIC_AUTHORIZATION_FAILED" in trace_of(client, "hidden")
    client.create("lines", source(tmp_path / "in"))
    assert f"write to topic {WRITTEN} as transactional id" in trace_of(client, "lines")
    grant(guarded, [row for row in worker_rows() if row.resource.startswith("topics of sink")])
    client.create("records", sink(tmp_path / "out"))
    assert "use group connect-records (GROUP_AUTHORIZATION_FAILED" in trace_of(client, "records")
    assert topics.values(WRITTEN) == []


def without(*starts: str) -> list[Row]:
    """The table without the rows that begin like that, of which there must be one each."""
    rows = worker_rows()
    left = [row for row in rows if not row.resource.startswith(starts)]
    assert len(left) == len(rows) - len(starts)
    return left


def trace_of(client: ConnectClient, name: str) -> str:
    return eventually(lambda: failure(client, name), what=f"a failure of {name}")
