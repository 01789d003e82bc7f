"""Named consumers in columns: the same promises, a batch at a time."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

import pyarrow as pa
import pytest
from confluent_kafka import Producer, TopicPartition

from penstock.consumers import Consumer, InvalidConsumer, Offset, OffsetGone
from topics import Topics
from waiting import eventually


def numbers(batches: list[pa.RecordBatch] | None) -> list[int]:
    return [int(value) for batch in batches or [] for value in batch.column("value").to_pylist()]


def test_the_columns(consumer, topic: str) -> None:
    with consumer(until_end=True) as reader:
        (batch,) = reader.arrow_batches()
    assert batch.schema.names == [
        "topic", "partition", "key", "value", "timestamp", "headers", "offset",
    ]  # fmt: skip
    first = batch.slice(3, 1).to_pylist()[0]
    assert first | {"timestamp": 0} == {
        "topic": topic,
        "partition": 0,
        "key": None,
        "value": b"3",
        "timestamp": 0,
        "headers": None,
        "offset": 3,
    }
    assert first["timestamp"] > 1_700_000_000_000


def test_headers_are_there_for_whoever_asks(consumer, topic: str, topics: Topics) -> None:
    producer = Producer({"bootstrap.servers": topics.bootstrap_servers})
    producer.produce(topic, b"10", headers=[("a", b"1"), ("a", None)])
    assert producer.flush(20) == 0
    reader = consumer(name=None, start=Offset.from_end(1), until_end=True)
    (batch,) = reader.arrow_batches(headers=True)
    assert batch.column("headers").to_pylist() == [
        [{"key": "a", "value": b"1"}, {"key": "a", "value": None}]
    ]


def test_asking_for_more_commits_what_came_before(consumer, stands) -> None:
    reader = consumer()
    assert numbers(reader.take_arrow(4)) == [0, 1, 2, 3]
    reader.flush()
    assert list(stands().values()) == [0]
    assert numbers(reader.take_arrow(3)) == [4, 5, 6]
    reader.flush()
    assert list(stands().values()) == [4]
    reader.close()
    assert numbers(consumer(until_end=True).take_arrow()) == [7, 8, 9]


def test_manual_commits_and_markers(consumer, stands, topics: Topics, topic: str) -> None:
    reader = consumer(strategy="manual", until_end=True)
    assert numbers(reader.take_arrow(4)) == [0, 1, 2, 3]
    reader.commit()
    assert numbers(reader.take_arrow()) == [4, 5, 6, 7, 8, 9]
    reader.flush()
    assert list(stands().values()) == [4]
    assert reader.take_arrow() is None
    reader.commit()
    reader.flush()
    assert list(stands().values()) == [topics.end(topic)] == [11], "the marker is behind it too"


def test_a_batch_whose_handling_failed_comes_again(consumer) -> None:
    with pytest.raises(ZeroDivisionError), consumer() as reader:  # noqa: PT012 (the with is it)
        for _ in reader.arrow_batches():
            raise ZeroDivisionError
    assert numbers(consumer().take_arrow()) == list(range(10))


def test_many_partitions_each_in_order(consumer, topics: Topics, name: str) -> None:
    many = f"{name}-many"
    topics.create(many, 5)
    for partition in range(5):
        topics.produce(many, [b"%d" % n for n in range(partition * 100)], partition=partition)
    found: dict[int, list[int]] = {}
    with consumer(topic=many, until_end=True) as reader:
        for batch in reader.arrow_batches():
            (partition,) = set(batch.column("partition").to_pylist())
            found.setdefault(partition, []).extend(numbers([batch]))
    assert found == {partition: list(range(partition * 100)) for partition in range(1, 5)}
    with consumer(topic=many, until_end=True) as reader:
        assert list(reader.arrow_batches()) == []


def test_it_ends_with_the_last_offset_that_was_asked_for(consumer) -> None:
    reader = consumer(start=Offset.absolute(2), last=6)
    assert numbers(list(reader.arrow_batches())) == [2, 3, 4, 5, 6]


def delete_until(topics: Topics, topic: str, offset: int) -> None:
    place = TopicPartition(topic, 0, offset)
    topics.admin.delete_records([place])[place].result(20)


def in_columns(reader: Consumer) -> list[int]:
    return numbers(reader.take_arrow(patience=0.3))


def one_by_one(reader: Consumer) -> list[int]:
    return [int(record.value or b"") for record in reader.take(patience=0.3) or []]


@pytest.fixture(params=[in_columns, one_by_one])
def taken(request: pytest.FixtureRequest) -> Callable[[Consumer], list[int]]:
    """What a consumer hands out next, in either form."""
    return request.param


@pytest.mark.parametrize(("policy", "follows"), [("earliest", [5, 6, 7, 8, 9]), ("latest", [10])])
def test_records_that_are_deleted_after_it_began(
    consumer, taken, topics: Topics, topic: str, policy: str, follows: list[int]
) -> None:
    reader = consumer(when_gone=policy).open()
    delete_until(topics, topic, 5)
    found: list[int] = []

    def read_on() -> bool:
        found.extend(taken(reader))
        return len(found) >= len(follows)

    def has_jumped() -> bool:
        found.extend(taken(reader))
        return reader._opened().progress.handed_out()[0] == topics.end(topic)

    if policy == "latest":
        eventually(has_jumped, what="the jump to the end")
        assert found == []
        topics.produce(topic, [b"10"])
    eventually(read_on, what=f"{follows}")
    assert found == follows


def test_a_place_that_is_gone_is_an_error(consumer, taken, topics: Topics, topic: str) -> None:
    reader = consumer().open()
    delete_until(topics, topic, 5)
    with pytest.raises(OffsetGone, match="now has 5 to 11"):
        eventually(lambda: taken(reader), within=20, what="an error")


def test_one_form_at_a_time(consumer) -> None:
    reader = consumer()
    list(islice(reader, 1))
    with pytest.raises(InvalidConsumer, match="records"):
        reader.take_arrow()
    reader.close()
    columns = consumer()
    columns.take_arrow(1)
    with pytest.raises(InvalidConsumer, match="Arrow batches"):
        next(columns)
    with pytest.raises(InvalidConsumer, match="share=True"):
        consumer(name="shared-columns", share=True).take_arrow()
