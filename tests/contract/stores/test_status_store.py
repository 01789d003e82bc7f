"""The status topic, byte for byte as Kafka Connect writes it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator

import pytest
from confluent_kafka.admin import AdminClient

from penstock.kafka.clients import Connection
from penstock.runtime.states import State, Status
from penstock.runtime.stores.status_store import StatusStore
from raw_records import Raw, read_records, write_records
from topics import Topics
from waiting import eventually

RUNNING = Status(State.RUNNING, "h:8083", 3, None, "4.1.0")
RUNNING_BYTES = (
    b'{"state":"RUNNING","trace":null,"worker_id":"h:8083","generation":3,"version":"4.1.0"}'
)
NAME = "my-sink-1"
Open = Callable[[], StatusStore]


@pytest.fixture
def opened(connection: Connection, admin: AdminClient, name: str) -> Iterator[Open]:
    """Stores on the test's own topic, each read to its end."""
    stores: list[StatusStore] = []

    def begin() -> StatusStore:
        store = StatusStore(connection, admin, name, partitions=3)
        store.start()
        stores.append(store)
        store.log.read_to_end(20)
        return store

    yield begin
    for store in stores:
        store.stop()


def flushed(store: StatusStore) -> None:
    assert store._producer is not None
    assert store._producer.flush(20) == 0
    store.log.read_to_end(20)


def test_connectors_and_tasks(opened: Open, topics: Topics, name: str) -> None:
    store = opened()
    store.put_connector(NAME, RUNNING)
    failed = Status(State.FAILED, "h:8083", 3, 'Größe "x"\n\tat line', None)
    store.put_task(NAME, 0, failed)
    flushed(store)
    assert sorted(read_records(topics, name)) == [
        (b"status-connector-my-sink-1", RUNNING_BYTES),
        (
            b"status-task-my-sink-1-0",
            '{"state":"FAILED","trace":"Größe \\"x\\"\\n\\tat line","worker_id":"h:8083",'
            '"generation":3,"version":null}'.encode(),
        ),
    ]
    other = opened()
    assert other.connector(NAME) == RUNNING
    assert other.task(NAME, 0) == failed
    assert other.task_ids(NAME) == [0]


def test_topics_that_a_connector_has_used(opened: Open, topics: Topics, name: str) -> None:
    store = opened()
    before = int(time.time() * 1000)
    store.add_topics(NAME, 2, ["orders"])
    store.add_topics(NAME, 1, ["orders"])
    flushed(store)
    [(key, value)] = read_records(topics, name)
    assert key == b"status-topic-orders:connector-my-sink-1"
    body = json.loads(value or b"")
    stamp = body["topic"]["discoverTimestamp"]
    assert before <= stamp <= time.time() * 1000
    assert (
        value
        == (
            f'{{"topic":{{"name":"orders","connector":"my-sink-1","task":2,"discoverTimestamp":{stamp}}}}}'
        ).encode()
    )
    other = opened()
    assert other.topics(NAME) == ["orders"]
    assert other.topics("my-sink") == []
    other.forget_topics(NAME)
    flushed(other)
    assert read_records(topics, name)[-1] == (key, None)
    eventually(lambda: store.topics(NAME) == [], within=10)


def test_forgetting_a_connector_tombstones_everything(
    opened: Open, topics: Topics, name: str
) -> None:
    store = opened()
    store.put_connector(NAME, RUNNING)
    store.put_task(NAME, 0, RUNNING)
    store.put_task(NAME, 1, RUNNING)
    store.add_topics(NAME, 0, ["orders"])
    store.put_connector("my-sink", RUNNING)
    store.forget(NAME)
    assert store.connector(NAME) is None
    assert store.task_ids(NAME) == []
    assert store.topics(NAME) == []
    flushed(store)
    last = dict(read_records(topics, name))
    assert last == {
        b"status-connector-my-sink-1": None,
        b"status-task-my-sink-1-0": None,
        b"status-task-my-sink-1-1": None,
        b"status-topic-orders:connector-my-sink-1": None,
        b"status-connector-my-sink": RUNNING_BYTES,
    }
    other = opened()
    assert other.connector(NAME) is None
    assert other.connector("my-sink") == RUNNING


def test_a_status_that_stays_what_it_was_is_not_written_again(
    opened: Open, topics: Topics, name: str
) -> None:
    store = opened()
    for _ in range(3):
        store.put_connector(NAME, RUNNING)
    store.put_task(NAME, 0, None)
    flushed(store)
    assert len(read_records(topics, name)) == 1


def test_a_store_is_never_behind_its_own_writes(opened: Open) -> None:
    store = opened()
    for i in range(200):
        status = Status(State.RUNNING, "h:8083", i)
        store.put_connector(NAME, status)
        assert store.connector(NAME) == status
    flushed(store)
    assert store.connector(NAME) == Status(State.RUNNING, "h:8083", 199)


def test_another_worker_is_heard(opened: Open) -> None:
    here, there = opened(), opened()
    here.put_connector(NAME, RUNNING)
    eventually(lambda: there.connector(NAME) == RUNNING, within=10)
    paused = Status(State.PAUSED, "other:8083", 4)
    there.put_connector(NAME, paused)
    eventually(lambda: here.connector(NAME) == paused, within=10)
    there.put_connector(NAME, None)
    eventually(lambda: here.connector(NAME) is None, within=10)


def test_names_with_dashes_and_numbers(opened: Open) -> None:
    store = opened()
    for each, tasks in (("a", 2), ("a-1", 1), ("a-b-0", 3)):
        for task in range(tasks):
            store.put_task(each, task, RUNNING)
    flushed(store)
    other = opened()
    assert other.task_ids("a") == [0, 1]
    assert other.task_ids("a-1") == [0]
    assert other.task_ids("a-b-0") == [0, 1, 2]
    assert other.task_ids("a-b") == []


def test_records_of_older_workers_and_of_strangers(opened: Open, topics: Topics, name: str) -> None:
    topics.create(name, partitions=3, config={"cleanup.policy": "compact"})
    records: list[Raw] = [
        (
            b"status-connector-old",
            b'{"state":"PAUSED","trace":null,"worker_id":"h:1","generation":1}',
        ),
        (b"status-connector-broken", b"no json"),
        (
            b"status-connector-future",
            b'{"state":"DREAMING","trace":null,"worker_id":"h:1","generation":1}',
        ),
        (b"something-else", b'{"state":"RUNNING"}'),
        (b"\xff", b"{}"),
    ]
    write_records(topics, name, records)
    store = opened()
    assert store.connector("old") == Status(State.PAUSED, "h:1", 1)
    assert store.connector("broken") is None
    assert store.connector("future") is None


def test_of_two_partitions_of_the_topic_the_newer_status_counts(
    opened: Open, topics: Topics, name: str
) -> None:
    """As it is once the topic has grown: the older one stays behind where it was."""
    topics.create(name, partitions=2, config={"cleanup.policy": "compact"})
    key, stale = b"status-connector-my-sink-1", RUNNING_BYTES.replace(b"RUNNING", b"FAILED")
    for newer, older in ((0, 1), (1, 0)):
        write_records(topics, name, [(key, stale)], older, 1_577_836_800_000)
        write_records(topics, name, [(key, RUNNING_BYTES)], newer)
        assert opened().connector(NAME) == RUNNING
