"""Committed positions are Kafka's own: other programs see them, and may move them."""

from __future__ import annotations

import shutil
import subprocess
from itertools import islice

import pytest
from confluent_kafka import Consumer as Plain
from confluent_kafka import ConsumerGroupTopicPartitions

from commands import Commands
from penstock.kafka import groups
from penstock.kafka.clients import Connection
from topics import Topics
from waiting import eventually


def read(records, count: int) -> list[str]:
    return [record.text for record in islice(records, count)]


def told_by_kafka(topics: Topics, group: str) -> dict[tuple[str, int], tuple[int, int]]:
    """The offset and the lag of every partition, as `kafka-consumer-groups --describe` has them."""
    asked = topics.admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])
    found = asked[group].result(20).topic_partitions
    return {
        (tp.topic, tp.partition): (
            tp.offset,
            topics.end(tp.topic, tp.partition, committed=False) - tp.offset,
        )
        for tp in found
    }


def told_by_penstock(penstock: Commands, name: str) -> dict[tuple[str, int], tuple[int, int]]:
    listed = penstock.done("consumer", "list", "-o", "jsonl").objects()
    return {
        (each["topic"], each["partition"]): (each["offset"], each["lag"])
        for each in listed
        if each["consumer"] == name
    }


def test_kafkas_tools_tell_the_same_as_ours(penstock: Commands, topics: Topics, name: str) -> None:
    topics.create(name, partitions=2)
    for partition, count in ((0, 5), (1, 3)):
        topics.produce(name, [b"x"] * count, partition=partition)
    penstock.done("consume", name, "-B", "-n", "2", "-c", name, "-p", "0")
    penstock.done("consume", name, "-B", "-n", "1", "-c", name, "-p", "1")
    told = told_by_kafka(topics, name)
    assert told == {(name, 0): (2, 4), (name, 1): (1, 3)}, "the transactions' markers count, too"
    assert told_by_penstock(penstock, name) == told


def test_a_position_that_another_client_has_committed_counts(
    consumer, connection: Connection, topics: Topics, topic: str
) -> None:
    name = f"reader-of-{topic}"
    with consumer() as reader:
        assert read(reader, 3) == ["0", "1", "2"]
    groups.remove_members(connection, name, {topic: None})  # as at the end of its session
    other = Plain(
        {
            "bootstrap.servers": topics.bootstrap_servers,
            "group.id": name,
            "enable.auto.commit": False,
        }
    )
    other.subscribe([topic])
    try:
        first = eventually(lambda: other.poll(0.2), what="its first record")
        assert first is not None
        assert first.value() == b"3"
        other.commit(message=first, asynchronous=False)
    finally:
        other.close()
    assert read(consumer(), 1) == ["4"]


@pytest.fixture(scope="module")
def kcat() -> str:
    found = shutil.which("kcat")
    if found is None:
        pytest.fail("kcat is not there. Install it with: apt-get install kcat")
    return found


def read_with_kcat(kcat: str, topics: Topics, topic: str) -> list[int]:
    """The offsets that kcat reads as a member of the group, up to the end of the topic; it commits
    when it ends."""
    ended = subprocess.run(
        [
            *(kcat, "-b", topics.bootstrap_servers, "-G", f"reader-of-{topic}"),
            *("-e", "-q", "-f", "%o\\n", topic),
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return [int(line) for line in ended.stdout.split()]


@pytest.mark.heavy
def test_kcat_and_we_go_on_where_the_other_stopped(
    kcat: str, consumer, topics: Topics, topic: str
) -> None:
    """Each time kcat waits until our session is over: 10 s after the close, at most."""
    with consumer() as reader:
        assert read(reader, 3) == ["0", "1", "2"]
    assert read_with_kcat(kcat, topics, topic) == [3, 4, 5, 6, 7, 8, 9]
    topics.produce(topic, [b"new 0", b"new 1"])
    with consumer() as reader:
        assert read(reader, 1) == ["new 0"]
    assert read_with_kcat(kcat, topics, topic) == [12]
    assert read(consumer(until_end=True), 1) == []
