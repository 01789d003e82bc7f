"""The compacted topic that a process follows."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType

from penstock.kafka import compacted_log
from penstock.kafka.clients import Connection, reader
from penstock.kafka.compacted_log import CompactedLog, LogRecord
from penstock.kafka.errors import BrokerUnavailable, KafkaFault
from raw_records import write_records, write_transaction
from topics import Topics
from waiting import eventually

COMPACT = {"cleanup.policy": "compact"}
Follow = Callable[..., tuple[CompactedLog, list[LogRecord]]]


@pytest.fixture
def follow(connection: Connection, admin: AdminClient) -> Iterator[Follow]:
    """Starts logs that are stopped after the test; what they have delivered."""
    started: list[CompactedLog] = []

    def begin(topic: str, partitions: int = 1) -> tuple[CompactedLog, list[LogRecord]]:
        seen: list[LogRecord] = []
        log = CompactedLog(connection, admin, topic, seen.append, partitions=partitions)
        log.start()
        started.append(log)
        return log, seen

    yield begin
    for log in started:
        log.stop()
        log.stop()


def values(seen: list[LogRecord]) -> list[bytes | None]:
    return [record.value for record in seen]


def reading(log: CompactedLog) -> tuple[threading.Event, threading.Thread]:
    """``read_to_end`` on a thread of its own; the event says that it has returned."""
    done = threading.Event()

    def read() -> None:
        log.read_to_end(20)
        done.set()

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    return done, thread


def test_a_missing_topic_is_created_compacted(
    follow: Follow, admin: AdminClient, name: str
) -> None:
    log, seen = follow(name, partitions=3)
    log.read_to_end(20)
    assert seen == []
    resource = ConfigResource(ResourceType.TOPIC, name)
    settings = admin.describe_configs([resource])[resource].result(20)
    assert settings["cleanup.policy"].value == "compact"
    assert len(admin.list_topics(timeout=20).topics[name].partitions) == 3


def test_a_topic_that_exists_keeps_its_number_of_partitions(
    follow: Follow, topics: Topics, name: str
) -> None:
    topics.create(name, partitions=4, config=COMPACT)
    for partition in range(4):
        write_records(topics, name, [(b"k", b"%d" % partition)], partition)
    log, seen = follow(name, partitions=25)
    log.read_to_end(20)
    assert sorted(record.partition for record in seen) == [0, 1, 2, 3]


def test_everything_is_delivered_in_order_tombstones_included(
    follow: Follow, topics: Topics, name: str
) -> None:
    topics.create(name, config=COMPACT)
    write_records(topics, name, [(b"a", b"1"), (b"b", b"2"), (b"a", None)])
    log, seen = follow(name)
    log.read_to_end(20)
    assert seen == [
        LogRecord(b"a", b"1", 0, 0),
        LogRecord(b"b", b"2", 0, 1),
        LogRecord(b"a", None, 0, 2),
    ]


def test_what_was_written_before_the_call_has_been_seen_after_it(
    follow: Follow, topics: Topics, name: str
) -> None:
    log, seen = follow(name, partitions=2)
    for i in range(20):
        write_records(topics, name, [(b"k", b"%d" % i)], partition=i % 2)
        log.read_to_end(20)
        assert len(seen) == i + 1


@pytest.mark.parametrize("commit", [True, False])
def test_another_open_transaction_is_waited_for(
    follow: Follow, topics: Topics, name: str, commit: bool
) -> None:
    """What is committed behind it is not missed, though a read_committed reader stops before it."""
    log, seen = follow(name)
    log.read_to_end(20)
    stranger = topics.transaction(f"stranger-of-{name}")
    stranger.produce(name, b"stranger", b"s", partition=0)
    stranger.flush(20)
    mine = topics.transaction(f"me-of-{name}")
    mine.produce(name, b"mine", b"m", partition=0)
    mine.commit_transaction(20)

    done, thread = reading(log)
    assert not done.wait(1.0), f"it took {values(seen)} for everything"
    if commit:
        stranger.commit_transaction(20)
    else:
        stranger.abort_transaction(20)
    assert done.wait(20)
    thread.join(5)
    assert values(seen) == ([b"stranger", b"mine"] if commit else [b"mine"])


def test_a_transaction_that_never_ends_is_not_waited_for_for_ever(
    follow: Follow, topics: Topics, name: str
) -> None:
    log, _ = follow(name)
    log.read_to_end(20)
    stranger = topics.transaction(f"stranger-of-{name}")
    stranger.produce(name, b"stranger", b"s", partition=0)
    stranger.flush(20)
    said = (
        rf"could not read topic {name} to its end in 1 s: a transaction at offset 0 of partition 0"
    )
    with pytest.raises(BrokerUnavailable, match=said):
        log.read_to_end(1)
    stranger.abort_transaction(20)
    log.read_to_end(20)


def test_markers_and_aborted_records_at_the_end_do_not_block(
    follow: Follow, topics: Topics, name: str
) -> None:
    """Neither a log that was there before them nor one that comes after."""
    topics.create(name, config=COMPACT)
    old, seen_by_old = follow(name)
    old.read_to_end(20)
    write_transaction(topics, name, [(b"k", b"a")])
    write_transaction(topics, name, [(b"k", b"never")] * 10, abort=True)
    log, seen = follow(name)
    log.read_to_end(20)
    old.read_to_end(20)
    assert values(seen) == values(seen_by_old) == [b"a"]
    write_transaction(topics, name, [(b"k", b"never")], abort=True)
    log.read_to_end(20)
    assert values(seen) == [b"a"]


def test_a_topic_of_nothing_but_aborted_records(follow: Follow, topics: Topics, name: str) -> None:
    topics.create(name, config=COMPACT)
    write_transaction(topics, name, [(b"k", b"never")] * 10, abort=True)
    log, seen = follow(name)
    log.read_to_end(20)
    assert seen == []


@pytest.mark.parametrize("policy", ["delete", "compact,delete"])
def test_a_topic_that_forgets_is_refused_and_the_text_says_what_to_do(
    follow: Follow, topics: Topics, name: str, policy: str
) -> None:
    topics.create(name, config={"cleanup.policy": policy})
    with pytest.raises(KafkaFault) as refused:
        follow(name)
    text = str(refused.value)
    assert text.startswith(f"Topic '{name}' has cleanup.policy={policy}")
    assert text.endswith(
        "kafka-configs.sh --bootstrap-server HOST:PORT --alter --entity-type topics "
        f"--entity-name {name} --add-config cleanup.policy=compact"
    )


def test_a_topic_whose_order_counts_must_have_one_partition(
    connection: Connection, admin: AdminClient, topics: Topics, name: str
) -> None:
    topics.create(name, partitions=3, config=COMPACT)
    log = CompactedLog(connection, admin, name, lambda _: None, single=True)
    with pytest.raises(KafkaFault) as refused:
        log.start()
    text = str(refused.value)
    assert text.startswith(f"Topic '{name}' has 3 partitions")
    assert text.endswith(f"kafka-topics.sh --bootstrap-server HOST:PORT --delete --topic {name}")


def test_a_topic_that_was_deleted_is_not_waited_for(
    follow: Follow, topics: Topics, name: str
) -> None:
    log, _ = follow(name)
    log.read_to_end(20)
    topics.delete(name)
    with pytest.raises(BrokerUnavailable, match="no longer exists"):
        log.read_to_end(60)


def test_a_record_that_cannot_be_handled_is_logged_and_skipped(
    connection: Connection,
    admin: AdminClient,
    topics: Topics,
    name: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    topics.create(name, config=COMPACT)
    write_records(topics, name, [(b"a", b"bad"), (b"b", b"good")])
    seen = []

    def take(record: LogRecord) -> None:
        if record.value == b"bad":
            raise ValueError("no such thing")
        seen.append(record.value)

    log = CompactedLog(connection, admin, name, take)
    log.start()
    try:
        log.read_to_end(20)
    finally:
        log.stop()
    assert seen == [b"good"]
    assert f"ignored a record of topic {name} at 0:0" in caplog.text


def test_reading_past_a_record_of_a_transaction(follow: Follow, topics: Topics, name: str) -> None:
    """Its marker is not waited for; a record that is not there yet is."""
    topics.create(name, config=COMPACT)
    log, seen = follow(name)
    write_transaction(topics, name, [(b"a", b"1"), (b"b", b"2")])
    log.read_past(0, 1, 20)
    assert values(seen) == [b"1", b"2"]
    with pytest.raises(BrokerUnavailable, match=name):
        log.read_past(0, 3, 0.3)
    write_transaction(topics, name, [(b"c", b"3")])
    log.read_past(0, 3, 20)
    assert values(seen) == [b"1", b"2", b"3"]


def test_partitions_that_are_added_are_read_to_their_end(
    follow: Follow, topics: Topics, name: str
) -> None:
    topics.create(name, config=COMPACT)
    log, seen = follow(name)
    write_records(topics, name, [(b"k", b"before")])
    log.read_to_end(20)
    topics.grow(name, 3)
    for partition in (2, 1):
        write_records(topics, name, [(b"k", b"%d" % partition)], partition)
        log.read_to_end(20)
        assert values(seen)[-1] == b"%d" % partition
    assert len(seen) == 3


def test_partitions_that_are_added_are_followed_though_nobody_waits(
    follow: Follow, topics: Topics, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compacted_log, "GROWTH_SECONDS", 0.1)
    topics.create(name, config=COMPACT)
    log, seen = follow(name)
    log.read_to_end(20)
    topics.grow(name, 2)
    write_records(topics, name, [(b"k", b"late")], partition=1)
    eventually(lambda: values(seen) == [b"late"], what="the record on the new partition")


def test_a_topic_whose_order_counts_and_that_grows_is_told_of(
    connection: Connection,
    admin: AdminClient,
    topics: Topics,
    name: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    seen: list[LogRecord] = []
    log = CompactedLog(connection, admin, name, seen.append, single=True)
    log.start()
    try:
        topics.grow(name, 2)
        write_records(topics, name, [(b"k", b"late")], partition=1)
        log.read_to_end(20)
    finally:
        log.stop()
    assert values(seen) == [b"late"]
    assert f"Topic '{name}' has 2 partitions" in caplog.text


def test_a_reader_that_gives_nothing_for_long_fetches_anew(
    follow: Follow, topics: Topics, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.kafka.silence.SILENCE_SECONDS", 1.0)
    clients: list[Consumer] = []

    def noted(*args: Any, **settings: Any) -> Consumer:
        clients.append(reader(*args, **settings))
        return clients[-1]

    monkeypatch.setattr(compacted_log, "reader", noted)
    topics.create(name, config=COMPACT)
    write_records(topics, name, [(b"a", b"1")])
    log, seen = follow(name)
    log.read_to_end(20)
    clients[0].assign([])
    write_records(topics, name, [(b"a", b"2")])
    log.read_to_end(20)
    assert values(seen) == [b"1", b"2"]
