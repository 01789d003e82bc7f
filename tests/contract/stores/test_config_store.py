"""The config topic, byte for byte as Kafka Connect writes it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
from confluent_kafka.admin import AdminClient

from penstock.kafka.clients import Connection
from penstock.kafka.errors import OutcomeUnknown
from penstock.runtime.errors import BadRequest, Conflict
from penstock.runtime.states import Target
from penstock.runtime.stores.config_store import ConfigStore, Listener
from raw_records import Raw, read_records, write_records
from topics import Topics
from waiting import eventually

CONFIG = {"name": "my-source-1", "connector.class": "FileStreamSource", "note": "größer/ñ"}
CONFIG_BYTES = (
    '{"properties":{"name":"my-source-1","connector.class":"FileStreamSource","note":"größer/ñ"}}'
).encode()
NAME = "my-source-1"
Open = Callable[..., ConfigStore]


@pytest.fixture
def opened(connection: Connection, admin: AdminClient, name: str) -> Iterator[Open]:
    """Stores on the test's own topic and group, each read to its end."""
    stores: list[ConfigStore] = []

    def begin(*, lead: bool = True) -> ConfigStore:
        store = ConfigStore(connection, admin, name, group_id=name)
        store.log.start()
        stores.append(store)
        if lead:
            store.lead()
        store.log.read_to_end(20)
        return store

    yield begin
    for store in stores:
        store.log.stop()


@pytest.fixture
def written(topics: Topics, name: str) -> Callable[..., None]:
    """Writes records before any store is there."""

    def write(*records: Raw) -> None:
        topics.create(name, config={"cleanup.policy": "compact"})
        write_records(topics, name, records)

    return write


def test_a_connector(opened: Open, topics: Topics, name: str) -> None:
    store = opened()
    store.put_connector(NAME, CONFIG)
    assert read_records(topics, name) == [(b"connector-my-source-1", CONFIG_BYTES)]
    assert store.config(NAME) == CONFIG
    assert store.target(NAME) is Target.STARTED
    assert store.names() == [NAME]
    assert len(topics.admin.list_topics(timeout=20).topics[name].partitions) == 1


@pytest.mark.parametrize(
    ("target", "value"),
    [
        (Target.STARTED, b'{"state":"STARTED","state.v2":"STARTED"}'),
        (Target.PAUSED, b'{"state":"PAUSED","state.v2":"PAUSED"}'),
        (Target.STOPPED, b'{"state":"PAUSED","state.v2":"STOPPED"}'),
    ],
)
def test_a_target_state_precedes_its_connector(
    opened: Open, topics: Topics, name: str, target: Target, value: bytes
) -> None:
    store = opened()
    store.put_connector(NAME, CONFIG, target)
    assert read_records(topics, name) == [
        (b"target-state-my-source-1", value),
        (b"connector-my-source-1", CONFIG_BYTES),
    ]
    assert store.target(NAME) is target
    assert opened(lead=False).target(NAME) is target


def test_a_key_that_was_sent_with_null_is_unset(written: Callable[..., None], opened: Open) -> None:
    """Kafka Connect stores it as it was sent."""
    properties = b'{"properties":{"file":"a","topic":null}}'
    written((b"connector-c", properties), (b"task-c-0", properties), (b"commit-c", b'{"tasks":1}'))
    store = opened(lead=False)
    assert store.config("c") == {"file": "a"}
    assert store.tasks("c") == [{"file": "a"}]


def test_tasks(opened: Open, topics: Topics, name: str) -> None:
    store = opened()
    store.put_connector(NAME, CONFIG)
    tasks = [{"file": "a"}, {"file": "b"}]
    store.put_tasks(NAME, tasks)
    assert read_records(topics, name)[1:] == [
        (b"task-my-source-1-0", b'{"properties":{"file":"a"}}'),
        (b"task-my-source-1-1", b'{"properties":{"file":"b"}}'),
        (b"commit-my-source-1", b'{"tasks":2}'),
        (b"tasks-fencing-my-source-1", b'{"task-count":2}'),
    ]
    assert store.tasks(NAME) == tasks
    assert opened(lead=False).tasks(NAME) == tasks


def test_fewer_tasks_leave_ids_to_be_fenced(opened: Open, topics: Topics, name: str) -> None:
    store = opened()
    store.put_connector(NAME, CONFIG)
    store.put_tasks(NAME, [{}, {}, {}])
    store.put_tasks(NAME, [{"only": "one"}])
    assert store.tasks(NAME) == [{"only": "one"}]
    assert store.fenced_tasks(NAME) == 3
    assert opened(lead=False).fenced_tasks(NAME) == 3


def test_stop_is_zero_tasks_and_then_stopped(opened: Open, topics: Topics, name: str) -> None:
    store = opened()
    store.put_connector(NAME, CONFIG)
    store.put_tasks(NAME, [{}])
    store.stop(NAME)
    assert read_records(topics, name)[-2:] == [
        (b"commit-my-source-1", b'{"tasks":0}'),
        (b"target-state-my-source-1", b'{"state":"PAUSED","state.v2":"STOPPED"}'),
    ]
    assert store.tasks(NAME) == []
    assert store.target(NAME) is Target.STOPPED
    assert store.fenced_tasks(NAME) == 1


def test_delete_writes_two_tombstones_and_no_more(opened: Open, topics: Topics, name: str) -> None:
    store = opened()
    store.put_connector(NAME, CONFIG, Target.STOPPED)
    store.put_tasks(NAME, [{}])
    store.delete(NAME)
    assert read_records(topics, name)[-2:] == [
        (b"connector-my-source-1", None),
        (b"target-state-my-source-1", None),
    ]
    assert store.names() == []
    assert store.config(NAME) is None
    assert store.tasks(NAME) == []


def test_a_connector_made_again_has_neither_tasks_nor_target_of_its_former_life(
    opened: Open,
) -> None:
    store = opened()
    store.put_connector(NAME, CONFIG, Target.PAUSED)
    store.put_tasks(NAME, [{"old": "1"}])
    store.delete(NAME)
    store.put_connector(NAME, CONFIG)
    for each in (store, opened(lead=False)):
        assert each.tasks(NAME) == []
        assert each.target(NAME) is Target.STARTED
        assert each.fenced_tasks(NAME) == 1


def test_leftover_tasks_of_a_connector_whose_tombstone_compaction_took(
    opened: Open, written: Callable[..., None]
) -> None:
    written(
        (b"task-gone-0", b'{"properties":{"old":"1"}}'),
        (b"commit-gone", b'{"tasks":1}'),
        (b"tasks-fencing-gone", b'{"task-count":1}'),
    )
    store = opened()
    assert store.names() == []
    assert store.tasks("gone") == []
    store.put_connector("gone", {"name": "gone"}, Target.STOPPED)
    assert store.tasks("gone") == []
    assert store.fenced_tasks("gone") == 1
    assert opened(lead=False).tasks("gone") == []


def test_a_task_set_that_compaction_left_incomplete(
    opened: Open, written: Callable[..., None]
) -> None:
    written(
        (b"connector-c", b'{"properties":{"name":"c"}}'),
        (b"task-c-1", b'{"properties":{"file":"b"}}'),
        (b"commit-c", b'{"tasks":2}'),
    )
    store = opened()
    assert store.tasks("c") == []
    assert store.fenced_tasks("c") == 2
    store.put_tasks("c", [{"file": "x"}, {"file": "y"}])
    assert store.tasks("c") == [{"file": "x"}, {"file": "y"}]


def test_tasks_are_in_force_only_once_they_are_committed(
    opened: Open, written: Callable[..., None], topics: Topics, name: str
) -> None:
    written(
        (b"connector-c", b'{"properties":{"name":"c"}}'),
        (b"task-c-0", b'{"properties":{"file":"a"}}'),
        (b"commit-c", b'{"tasks":1}'),
        (b"task-c-0", b'{"properties":{"file":"b"}}'),
        (b"task-c-1", b'{"properties":{"file":"c"}}'),
    )
    store = opened(lead=False)
    assert store.tasks("c") == [{"file": "a"}]
    write_records(topics, name, [(b"commit-c", b'{"tasks":2}')])
    store.log.read_to_end(20)
    assert store.tasks("c") == [{"file": "b"}, {"file": "c"}]


def test_names_may_hold_dashes_and_numbers(opened: Open) -> None:
    store = opened()
    names = ["a", "a-1", "a-1-0", "a-0", "commit-a", "task-a-0", "state-a"]
    for each in names:
        store.put_connector(each, {"name": each})
        store.put_tasks(each, [{"task of": each}])
    other = opened(lead=False)
    assert sorted(other.names()) == sorted(names)
    assert {each: other.tasks(each) for each in names} == {e: [{"task of": e}] for e in names}


def test_target_states_of_other_writers(opened: Open, written: Callable[..., None]) -> None:
    written(
        *((f"connector-{c}".encode(), b'{"properties":{}}') for c in "abcd"),
        (b"target-state-a", b'{"state":"PAUSED"}'),
        (b"target-state-b", b'{"state":"PAUSED","state.v2":"STOPPED"}'),
        (b"target-state-c", b'{"state":"PAUSED","state.v2":"PAUSED"}'),
        (b"target-state-c", None),
        (b"target-state-d", b'{"state":"SLEEPING","state.v2":null}'),
    )
    store = opened(lead=False)
    assert [store.target(c) for c in "abcd"] == [
        Target.PAUSED,
        Target.STOPPED,
        Target.STARTED,
        Target.STARTED,
    ]
    assert sorted(store.names()) == ["a", "b", "c", "d"]


def test_records_that_are_none_of_ours_do_no_harm(
    opened: Open, written: Callable[..., None]
) -> None:
    written(
        (b"session-key", b'{"key":"a","algorithm":"HmacSHA256","creation-timestamp":1}'),
        (b"restart-connector-c", b'{"include-tasks":true,"only-failed":false}'),
        (b"logger-cluster-root", b'{"level":"DEBUG"}'),
        (b"\xff", b"{}"),
        (b"connector-broken", b"no json"),
        (b"connector-list", b"[]"),
        (b"task-without-number", b'{"properties":{}}'),
        (b"connector-c", b'{"properties":{"name":"c"}}'),
    )
    store = opened(lead=False)
    assert store.names() == ["c"]


def test_only_a_leader_writes(opened: Open, topics: Topics, name: str) -> None:
    store = opened(lead=False)
    assert not store.leads()
    with pytest.raises(Conflict) as refused:
        store.put_connector(NAME, CONFIG)
    assert str(refused.value) == (
        "Cannot complete request momentarily due to no known leader URL, likely because a "
        "rebalance was underway."
    )
    assert read_records(topics, name) == []


def test_a_former_leader_is_fenced(opened: Open, topics: Topics, name: str) -> None:
    former, leader = opened(), opened()
    with pytest.raises(Conflict) as refused:
        former.put_connector("zombie", {})
    assert str(refused.value) == (
        "Cannot complete request because of a conflicting operation (e.g. worker rebalance)"
    )
    assert not former.leads()
    leader.put_connector(NAME, CONFIG)
    former.log.read_to_end(20)
    assert former.config(NAME) == CONFIG
    assert [key for key, _ in read_records(topics, name)] == [b"connector-my-source-1"]


def test_a_change_is_there_as_a_whole_or_not_at_all(
    opened: Open, topics: Topics, name: str
) -> None:
    """A new leader aborts what the former one had open."""
    former = opened()
    producer = former._writes._producer
    assert producer is not None
    producer.send(name, b'{"state":"PAUSED","state.v2":"PAUSED"}', b"target-state-half")
    producer.raw.flush(20)
    leader = opened()
    leader.put_connector(NAME, CONFIG)
    assert [key for key, _ in read_records(topics, name)] == [b"connector-my-source-1"]


def test_a_change_that_kafka_did_not_answer_for_is_found_in_the_topic(
    opened: Open, topics: Topics, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not made a second time, although nobody leads by now."""
    store = opened()
    producer = store._writes._producer
    assert producer is not None
    commit = producer.commit

    def commit_in_silence(*_: object) -> None:
        commit([], [])
        raise OutcomeUnknown("nobody answers")

    monkeypatch.setattr(producer, "commit", commit_in_silence)
    store.put_connector(NAME, CONFIG)
    assert store.config(NAME) == CONFIG
    assert read_records(topics, name) == [(b"connector-my-source-1", CONFIG_BYTES)]
    assert not store.leads()


def test_a_change_that_was_not_committed_is_made_once_the_worker_leads_again(
    opened: Open, topics: Topics, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of it has reached the broker, in a transaction that leading again aborts."""
    store = opened()
    producer = store._writes._producer
    assert producer is not None

    def give_up(*_: object) -> None:
        assert producer.raw.flush(20) == 0
        raise OutcomeUnknown("nobody answers")

    monkeypatch.setattr(producer, "commit", give_up)
    store.listen(Listener(unable=lambda: threading.Thread(target=store.lead).start()))
    store.put_connector(NAME, CONFIG)
    assert read_records(topics, name) == [(b"connector-my-source-1", CONFIG_BYTES)]
    assert store.leads()


def test_log_levels_reach_every_worker_that_runs_already(
    opened: Open, topics: Topics, name: str
) -> None:
    store, other = opened(lead=False), opened(lead=False)
    heard: list[tuple[str, str]] = []
    other.listen(Listener(logger_level=lambda logger, level: heard.append((logger, level))))
    store.put_logger_level("org.acme", "DEBUG")
    assert read_records(topics, name) == [(b"logger-cluster-org.acme", b'{"level":"DEBUG"}')]
    eventually(lambda: heard == [("org.acme", "DEBUG")], within=20, what="the other's word of it")


def test_a_change_that_is_too_large_is_refused_and_the_next_is_taken(
    opened: Open, topics: Topics, name: str
) -> None:
    small = {"cleanup.policy": "compact", "max.message.bytes": "2000"}
    topics.create(name, config=small)
    store = opened()
    with pytest.raises(BadRequest) as refused:
        store.put_connector(NAME, {**CONFIG, "note": "x" * 5000}, Target.PAUSED)
    text = str(refused.value)
    assert "MSG_SIZE_TOO_LARGE" in text
    assert f"too large for topic {name}, make it smaller, or raise max.message.bytes" in text
    assert store.leads()
    assert store.config(NAME) is None
    store.put_connector(NAME, CONFIG)
    assert store.config(NAME) == CONFIG
    assert read_records(topics, name) == [(b"connector-my-source-1", CONFIG_BYTES)]
