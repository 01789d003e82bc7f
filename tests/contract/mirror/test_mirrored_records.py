"""What a mirror makes of the records, offsets and topics of a real broker."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from confluent_kafka import Producer, TopicPartition

from mirrored import MirroredTopic
from penstock.sdk import RetriableError, UserError
from penstock.sdk.testing.played_source import PlayedSource
from topics import Topics
from waiting import eventually


def _batches(worker: PlayedSource) -> list[dict[str, Any]]:
    """The rows of everything that a turn commits."""
    rows: list[dict[str, Any]] = []
    commit = worker.commit

    def noting(batches: Any) -> Any:
        batches = list(batches)
        for batch in batches:
            rows.extend(batch.records.to_pylist())
        return commit(batches)

    worker.commit = noting  # type: ignore[method-assign] # it only listens
    worker.turn()
    return rows


class _Texts(MirroredTopic):
    def number(self, value: Any) -> int:
        return 0


def test_records_keep_all_that_they_have(topics: Topics, name: str) -> None:
    source = _Texts(topics, name)
    topics.grow(name, 3)
    producer = Producer({"bootstrap.servers": topics.bootstrap_servers})
    headers: list[tuple[str, str | bytes | None]] = [("a", b"1"), ("a", None), ("ä", b"")]
    producer.produce(name, b"\xff\x00", b"k", partition=2, timestamp=1234, headers=headers)
    producer.produce(name, None, b"gone", partition=1, timestamp=99)
    producer.produce(name, b"", None, partition=0, timestamp=7)
    producer.flush(20)
    rows = sorted(_batches(PlayedSource(source, tasks=2)), key=lambda row: row["partition"])
    kept = [{k: row[k] for k in ("partition", "key", "value", "timestamp")} for row in rows]
    assert kept == [
        {"partition": 0, "key": None, "value": b"", "timestamp": 7},
        {"partition": 1, "key": b"gone", "value": None, "timestamp": 99},
        {"partition": 2, "key": b"k", "value": b"\xff\x00", "timestamp": 1234},
    ]
    assert {row["topic"] for row in rows} == {f"src.{name}"}
    expected = [{"key": key, "value": value} for key, value in headers]
    assert [row["headers"] for row in rows] == [None, None, expected]


def test_aborted_records_are_passed_over_and_counted_as_read(topics: Topics, name: str) -> None:
    source = MirroredTopic(topics, name)
    source.write([1])
    topics.produce(name, [b"2", b"3"], abort=True)
    worker = PlayedSource(source)
    worker.turn()
    assert worker.delivered == [1]
    ((partition, offset),) = worker.reader()
    assert partition == {"cluster": "src", "partition": 0, "topic": name}
    assert offset["offset"] == topics.end(name) - 1
    assert not worker.look()


def test_uncommitted_records_are_mirrored_if_wanted(topics: Topics, name: str) -> None:
    source = MirroredTopic(topics, name, source_consumer_isolation_level="read_uncommitted")
    topics.produce(name, [b"2", b"3"], abort=True)
    worker = PlayedSource(source)
    worker.turn()
    assert worker.delivered == [2, 3]


def test_topics_are_made_with_partitions_and_settings_and_grow(topics: Topics, name: str) -> None:
    topics.create(name, 2, {"cleanup.policy": "compact", "min.insync.replicas": "1"})
    worker = PlayedSource(_Made(topics, name))
    worker.turn()
    assert _size(topics, f"src.{name}") == 2
    assert _policy(topics, f"src.{name}") == "compact"
    topics.grow(name, 4)
    topics.create(f"{name}-later")
    worker.turn()
    assert _size(topics, f"src.{name}") == 4
    assert _size(topics, f"src.{name}-later") == 1


class _Made(MirroredTopic):
    """Topics that are there already."""

    def __init__(self, topics: Topics, topic: str) -> None:
        self.topics, self.topic, self._config = topics, f"{topic}.*", {}


def _size(topics: Topics, topic: str) -> int:
    def partitions() -> int:
        known = topics.admin.list_topics(timeout=20).topics.get(topic)
        return len(known.partitions) if known else 0

    return eventually(partitions, what=topic)


def _policy(topics: Topics, topic: str) -> str:
    from confluent_kafka.admin import ConfigResource

    resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
    (future,) = topics.admin.describe_configs([resource]).values()
    return str(future.result(20)["cleanup.policy"].value)


def test_records_that_were_deleted_unread_are_told(topics: Topics, name: str) -> None:
    source = MirroredTopic(topics, name)
    source.write(range(10))
    worker = PlayedSource(source)
    worker.turn()
    source.write(range(10, 20))
    first = topics.end(name) - 3
    topics.admin.delete_records([TopicPartition(name, 0, first)])[
        TopicPartition(name, 0, first)
    ].result(20)
    assert worker.look()
    with pytest.raises(UserError, match=f"Offset 11 of {name}-0 is not in the source cluster"):
        worker.turn()
    assert worker.delivered == list(range(10))
    # What the error says to do.
    partition = {"cluster": "src", "partition": 0, "topic": name}
    offset = {"offset": first - 1}
    source.connector().alter_offsets(dict(source.config()), [(partition, offset)])
    worker.offsets = dict.fromkeys(worker.offsets, (partition, offset))
    worker.turn()
    assert worker.delivered == [*range(10), 18, 19]


def test_a_position_behind_the_end_is_told(topics: Topics, name: str) -> None:
    source = MirroredTopic(topics, name)
    source.write([1])
    worker = PlayedSource(source)
    worker.turn()
    ((key, (partition, offset)),) = worker.offsets.items()
    worker.offsets = {key: (partition, {**offset, "offset": 500})}
    assert worker.look()
    with pytest.raises(UserError, match=f"Offset 501 of {name}-0 .* it has 0 to 1"):
        worker.turn()


def test_a_topic_that_was_created_again_begins_anew(
    topics: Topics, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    source = MirroredTopic(topics, name)
    source.write([1, 2])
    worker = PlayedSource(source)
    worker.turn()
    topics.delete(name)
    topics.create(name)
    source.write([3, 4, 5, 6])
    with caplog.at_level(logging.WARNING):
        assert worker.look()
        worker.turn()
    assert worker.delivered == [1, 2, 3, 4, 5, 6]
    assert "was deleted and created again" in caplog.text


def test_latest_begins_at_the_end_once(topics: Topics, name: str) -> None:
    source = MirroredTopic(topics, name, consumer_auto_offset_reset="latest")
    worker = PlayedSource(source)
    worker.turn()
    source.write([1])
    worker.turn()
    assert worker.delivered == [1]


def test_a_cluster_that_is_away_is_waited_for(topics: Topics, name: str) -> None:
    source = MirroredTopic(topics, name)
    config = {**source.config(), "source.cluster.bootstrap.servers": "127.0.0.1:1"}
    connector = source.connector()
    connector.start(config)
    try:
        (task_config,) = connector.task_configs(1)
        assert connector.look(PlayedSource(source).reader())
        (extra,) = connector.plan(PlayedSource(source).reader(), [0]) or ()
        task = connector.task_class()
        task.start({**task_config, **extra}, PlayedSource(source).reader())
        with pytest.raises(RetriableError, match=r"src \(127.0.0.1:1\) cannot be reached"):
            task.poll()
        task.stop()
    finally:
        connector.stop()


def test_a_failed_task_keeps_its_partitions(topics: Topics, name: str) -> None:
    source = MirroredTopic(topics, name)
    topics.grow(name, 3)
    worker = PlayedSource(source, tasks=3)
    connector = source.connector()
    connector.start(dict(source.config()))
    try:
        connector.task_configs(3)
        whole = connector.plan(worker.reader(), [0, 1, 2]) or ()
        rest = connector.plan(worker.reader(), [0, 2]) or ()
        assert list(rest) == [whole[0], whole[2]]
        topics.produce(name, [b"1"], partition=1)
        assert not connector.look(worker.reader()), "the others have nothing to do"
    finally:
        connector.stop()


def test_a_topic_that_goes_away_is_told_and_left_alone(
    topics: Topics, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    source = MirroredTopic(topics, name)
    worker = PlayedSource(source)
    connector = source.connector()
    connector.start(dict(source.config()))
    task = connector.task_class()
    try:
        (config,) = worker.task_configs(connector)
        task.start(config, worker.reader())
        topics.delete(name)
        told = f"{name}-0 is no longer in the source cluster"
        eventually(lambda: task.poll() is None and told in caplog.text, within=60, what=told)
    finally:
        task.stop()
        connector.stop()
