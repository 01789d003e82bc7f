"""Partitions that a topic gets later are read from their first record on."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from confluent_kafka.admin import NewPartitions

from penstock.consumers import Consumer, Offset, session
from penstock.consumers.registry.entries import RegistryKey
from topics import Topics
from waiting import eventually


def add_partition(topics: Topics, topic: str, count: int) -> None:
    topics.admin.create_partitions([NewPartitions(topic, count)])[topic].result(20)
    eventually(lambda: _partitions(topics, topic) == count, what="the new partition")


def _partitions(topics: Topics, topic: str) -> int:
    return len(topics.admin.list_topics(timeout=20).topics[topic].partitions)


def values(consumer: Consumer) -> list[str | None]:
    return [record.text for record in consumer]


def test_before_the_name_is_opened_again(consumer, topics: Topics, topic: str) -> None:
    """Also where a new name would begin at the end: its records came after the name had begun."""
    with consumer(start=Offset.end(), until_end=True) as reader:
        assert values(reader) == []
    add_partition(topics, topic, 2)
    topics.produce(topic, [b"early"], partition=1)
    with consumer(start=Offset.end(), until_end=True) as reader:
        assert values(reader) == ["early"]
    other = consumer(name="new", start=Offset.end(), until_end=True)
    assert values(other) == []


def test_a_partition_that_was_there_and_not_read_begins_where_it_is_told(
    consumer, topics: Topics, name: str
) -> None:
    two = f"{name}-two"
    topics.create(two, 2)
    for partition in (0, 1):
        topics.produce(two, [b"old"], partition=partition)
    with consumer(topic=two, partitions=0, start=Offset.end(), until_end=True) as reader:
        assert values(reader) == []
    with consumer(topic=two, start=Offset.end(), until_end=True) as reader:
        assert values(reader) == []


@pytest.mark.parametrize("in_columns", [True, False])
def test_while_it_reads(
    consumer,
    topics: Topics,
    topic: str,
    stands: Callable[[], dict[RegistryKey, int]],
    monkeypatch: pytest.MonkeyPatch,
    in_columns: bool,
) -> None:
    monkeypatch.setattr(session, "GROWTH_SECONDS", 0.2)
    reader = consumer()
    found: list[bytes] = []

    def read_until(count: int) -> bool:
        if in_columns:
            for batch in reader.take_arrow(patience=0.3) or []:
                found.extend(batch.column("value").to_pylist())
        else:
            found.extend(record.value or b"" for record in reader.take(patience=0.3) or [])
        return len(found) >= count

    eventually(lambda: read_until(10), what="what was there")
    add_partition(topics, topic, 2)
    topics.produce(topic, [b"new 0", b"new 1"], partition=1)
    topics.produce(topic, [b"10"])
    eventually(lambda: read_until(13), what="what came later")
    assert sorted(found[10:]) == [b"10", b"new 0", b"new 1"]
    assert found[:10] == [b"%d" % number for number in range(10)]
    reader.close()
    assert sorted(place.partition for place in stands()) == [0, 1]
    assert values(consumer(until_end=True)) == []
