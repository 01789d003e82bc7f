"""What a topic holds, by ``format("penstock")`` and its reader."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import Producer, TopicPartition
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from penstock.consumers import Consumer
from penstock.kafka.clients import Connection
from penstock.kafka.range_reader import Range, RangeGone, read_range
from topics import Topics

pytestmark = pytest.mark.heavy
Read = Callable[..., DataFrame]


def numbers(frame: DataFrame) -> list[int]:
    return sorted(int(bytes(row.value)) for row in frame.select("value").collect())


def offsets(topic: str, **partitions: int) -> str:
    return json.dumps({topic: {p.removeprefix("p"): offset for p, offset in partitions.items()}})


def test_a_topic_as_a_batch(read: Read, topic: str, topics: Topics) -> None:
    frame = read(topic=topic)
    assert frame.columns == ["key", "value", "topic", "partition", "offset", "timestamp"]
    assert numbers(frame) == [*range(6), *range(100, 104)]
    assert {row.topic for row in frame.select("topic").collect()} == {topic}
    topics.produce(topic, [b"6"])
    again = read(topic=topic, recordsPerTask="2")
    assert numbers(again) == [*range(7), *range(100, 104)]
    assert again.rdd.getNumPartitions() > 2


def test_a_given_range(read: Read, topic: str) -> None:
    found = read(
        topic=topic,
        startingOffsets=offsets(topic, p0=2, p1=3),
        endingOffsets=offsets(topic, p0=4, p1=4),
    )
    assert numbers(found) == [2, 3, 103]
    nothing = read(topic=topic, startingOffsets="latest")
    assert numbers(nothing) == []


def test_everything_of_a_record(read: Read, topic: str, topics: Topics) -> None:
    producer = Producer({"bootstrap.servers": topics.bootstrap_servers})
    producer.produce(topic, None, b"k", 1, headers=[("h", b"\xff"), ("h", None)], timestamp=1_500)
    producer.flush(20)
    start = offsets(topic, p0=100, p1=5)
    (row,) = read(topic=topic, headers="true", startingOffsets=start).filter("key = 'k'").collect()
    assert (bytes(row.key), row.value, row.partition, row.offset) == (b"k", None, 1, 5)
    assert [(h.key, h.value) for h in row.headers] == [("h", b"\xff"), ("h", None)]
    assert row.timestamp.timestamp() == 1.5


def test_what_a_named_consumer_has_not_read(read: Read, topic: str, connection: Connection) -> None:
    brokers: dict[str, Any] = {"bootstrap_servers": connection.bootstrap_servers}
    with Consumer(topic, name=f"of-{topic}", partitions=[1], **brokers) as consumer:
        assert [next(consumer).text for _ in range(3)] == ["100", "101", "102"]
    for _ in range(2):
        assert numbers(read(topic=topic, consumer=f"of-{topic}")) == [*range(6), 103]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"startingOffsets": "sometime"}, "is earliest, latest, or offsets"),
        ({"topik": "x"}, "did you mean topic"),
        ({"endingOffsets": "{topic: {9: 1}}"}, "is not valid JSON"),
    ],
)
def test_bad_options(read: Read, topic: str, given: dict[str, str], said: str) -> None:
    with pytest.raises(PySparkException, match=said):
        read(topic=topic, **given).collect()


def test_topics_and_offsets_that_are_not_there(read: Read, topic: str) -> None:
    with pytest.raises(PySparkException, match=r'there is no topic "no-such-topic"'):
        read(topic="no-such-topic").collect()
    with pytest.raises(PySparkException, match=r"has no partition 7"):
        read(topic=topic, startingOffsets=offsets(topic, p7=0)).collect()
    with pytest.raises(PySparkException, match=r"ends with offset \d+: 99 is not written yet"):
        read(topic=topic, endingOffsets=offsets(topic, p0=99)).collect()


def test_records_that_were_deleted_are_not_skipped(
    topics: Topics, topic: str, connection: Connection
) -> None:

    topics.admin.delete_records([TopicPartition(topic, 0, 3)])[TopicPartition(topic, 0, 3)].result(
        20
    )
    with pytest.raises(RangeGone, match=f"{topic}-0 from 0 to 6 can no longer be read"):
        list(read_range(connection, Range(topic, 0, 0, 6)))
    (batch,) = read_range(connection, Range(topic, 0, 3, 6))
    assert batch.column("value").to_pylist() == [b"3", b"4", b"5"]
