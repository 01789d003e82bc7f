"""What ``produce`` promises, whether the client takes columns or one record after another."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka import Message

from penstock.engine.lease.producing import FEW, produce
from penstock.engine.pipeline.pipeline import Encoded
from penstock.kafka import field_queue, librdkafka
from penstock.kafka.clients import Connection
from penstock.kafka.errors import LeaseLost, OutcomeUnknown, RecordRefused
from penstock.kafka.transactions import Transactions
from penstock.sdk.batches import HEADERS, TOPIC, record_batch
from raw_records import read_records
from topics import Topics
from waiting import eventually

Row = tuple[bytes | None, bytes | None]
"""Key and value."""

ROWS: list[Row] = [
    (b"k", b"v"),
    (None, b"no key"),
    (b"", b"empty key"),
    (b"tombstone", None),
    (b"empty value", b""),
    (None, None),
    (b"k", b"\0\xff in the middle \0"),
    (b"k", b"x" * 300_000),
]
PARTITIONS = 3


@pytest.fixture(params=["columns", "records"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """How the client is given the records."""
    if request.param == "records":
        monkeypatch.setattr(librdkafka, "available", lambda: False)
    else:
        assert librdkafka.available(), "the pinned client takes columns"
    return str(request.param)


def encoded(
    topic: str, rows: Sequence[Row], kind: pa.DataType | None = None, *, skip: int = 0
) -> Encoded:
    keys = pa.array([key for key, _ in rows], kind or pa.binary())[skip:]
    values = pa.array([value for _, value in rows], kind or pa.binary())[skip:]
    return Encoded(record_batch(topic, values, key=keys), keys, values)


def arrived(topics: Topics, topic: str, expected: list[Row]) -> bool:
    """Whether the committed records come to be these: markers follow the commit's answer."""
    eventually(lambda: len(read_records(topics, topic)) >= len(expected), within=20)
    return read_records(topics, topic) == expected


def send(producer: Transactions, batch: Encoded) -> None:
    sent = produce(producer, batch)
    assert sent.records == len(batch.value)
    producer.commit([], [])


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary()], ids=str)
def test_keys_and_values_arrive_as_they_are_and_in_order(
    connection: Connection, topics: Topics, name: str, kind: pa.DataType
) -> None:
    topics.create(name)
    send(Transactions(connection, name), encoded(name, ROWS, kind))
    assert arrived(topics, name, ROWS)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("count", [FEW, FEW + 1])
def test_a_few_small_records_arrive_as_many_do(
    connection: Connection, topics: Topics, name: str, count: int
) -> None:
    topics.create(name)
    rows = [*ROWS[:-1], (b"k", b"one more"), (None, b"\n")][:count]
    send(Transactions(connection, name), encoded(name, rows))
    assert arrived(topics, name, rows)


@pytest.mark.usefixtures("way")
def test_a_slice_of_a_batch_is_only_that_slice(
    connection: Connection, topics: Topics, name: str
) -> None:
    topics.create(name)
    send(Transactions(connection, name), encoded(name, ROWS, skip=3))
    assert arrived(topics, name, ROWS[3:])


@pytest.mark.usefixtures("way")
def test_batches_without_a_single_byte(connection: Connection, topics: Topics, name: str) -> None:
    topics.create(name)
    producer = Transactions(connection, name)
    batches: list[list[Row]] = [[], [(None, b"")], [(None, None)], [(b"", None)]]
    for rows in batches:
        send(producer, encoded(name, rows))
    assert arrived(topics, name, [row for rows in batches for row in rows])


@pytest.mark.usefixtures("way")
def test_text_columns_of_a_converter_are_their_bytes(
    connection: Connection, topics: Topics, name: str
) -> None:
    topics.create(name)
    values = pa.array(["größe", None, ""])
    batch = Encoded(record_batch(name, values), pa.nulls(3), values)
    send(Transactions(connection, name), batch)
    assert arrived(topics, name, [(None, "größe".encode()), (None, None), (None, b"")])


@pytest.mark.usefixtures("way")
def test_a_full_queue_is_waited_out(connection: Connection, topics: Topics, name: str) -> None:
    topics.create(name)
    producer = Transactions(connection, name, **{"queue.buffering.max.messages": 100})
    rows: list[Row] = [(None, b"%d" % number) for number in range(5000)]
    send(producer, encoded(name, rows))
    assert arrived(topics, name, rows)


@pytest.mark.usefixtures("way")
def test_a_record_too_large_is_refused_and_none_of_the_batch_remains(
    connection: Connection, topics: Topics, name: str
) -> None:
    topics.create(name)
    producer = Transactions(connection, name, **{"message.max.bytes": 10_000})
    rows: list[Row] = [(None, b"before"), (None, b"x" * 20_000), (None, b"after")]
    with pytest.raises(RecordRefused):
        produce(producer, encoded(name, rows))
    send(producer, encoded(name, [(None, b"next")]))
    assert arrived(topics, name, [(None, b"next")])


Whole = tuple[str, int, bytes | None, bytes | None, int | None, list[tuple[str, bytes | None]]]
"""Topic, partition, key, value, timestamp and headers."""
MOMENT = 1_700_000_000_000


def whole(*records: Whole) -> Encoded:
    topics, partitions, keys, values, timestamps, headers = zip(*records, strict=True)
    pairs = [[{"key": k, "value": v} for k, v in each] or None for each in headers]
    key, value = pa.array(keys, pa.binary()), pa.array(values, pa.binary())
    batch = record_batch(
        "",
        value,
        key=key,
        partition=pa.array(partitions, pa.int32()),
        timestamp=pa.array(timestamps, pa.int64()),
        headers=pa.array(pairs, HEADERS),
    )
    named = pa.array(topics).dictionary_encode().cast(TOPIC)
    return Encoded(batch.set_column(0, "topic", named), key, value)


def came(topics: Topics, topic: str) -> list[Whole]:
    return [
        (topic, m.partition() or 0, m.key(), m.value(), m.timestamp()[1], list(_headers(m)))
        for m in topics.messages(topic)
    ]


def _headers(message: Message) -> Iterable[Any]:
    return message.headers() or ()


@pytest.mark.usefixtures("way")
def test_topics_partitions_timestamps_and_headers_arrive_as_they_are(
    connection: Connection, topics: Topics, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(field_queue, "AT_ONCE", 3)
    other = f"{name}-2"
    for each in (name, other):
        topics.create(each, partitions=PARTITIONS, config={"retention.ms": "-1"})
    records: list[Whole] = [
        (name, 2, b"k", b"v", MOMENT, [("a", b"1"), ("a", None), ("ä", b""), ("b", b"\0\xff")]),
        (name, 2, None, b"no headers", MOMENT + 1, []),
        (other, 1, b"", b"", 1, [("number", b"2")]),
        (name, 0, b"gone", None, MOMENT, [("a", b"x" * 100_000)]),
        (other, 1, None, None, 2, [("a", b"1")] * 20),
        (name, 2, b"k", b"x" * 300_000, MOMENT + 2, [("", b"no name")]),
        (name, 0, b"last", b"v", MOMENT, []),
    ]
    batch = whole(*records, (f"{name}-never", 0, None, b"", 1, []))
    sliced = Encoded(batch.batch.slice(0, 7), batch.key.slice(0, 7), batch.value.slice(0, 7))
    producer = Transactions(connection, name)
    send(producer, sliced)
    for each, count in ((name, 5), (other, 2)):
        expected = sorted((r for r in records if r[0] == each), key=lambda record: record[1])
        eventually(lambda: len(came(topics, each)) >= count, within=20)  # noqa: B023 (at once)
        assert came(topics, each) == expected
    assert f"{name}-never" not in topics.admin.list_topics(timeout=20).topics


@pytest.mark.usefixtures("way")
def test_what_a_record_does_not_say_is_the_producers(
    connection: Connection, topics: Topics, name: str
) -> None:
    """No timestamp: its clock. No partition: by the key."""
    topics.create(name, partitions=PARTITIONS)
    keys = [b"key-%d" % number for number in range(30)]
    began = int(time.time() * 1000)
    values = pa.array([b"v"] * 60)
    headers = pa.array([[{"key": "h", "value": b"1"}]] * 30 + [None] * 30, HEADERS)
    key = pa.array([*keys, *keys], pa.binary())
    batch = record_batch(name, values, key=key, headers=headers)
    producer = Transactions(connection, name)
    send(producer, Encoded(batch, key, values))
    send(producer, Encoded(record_batch(name, values[:30], key=key[:30]), key[:30], values[:30]))
    eventually(lambda: len(topics.messages(name)) == 90, within=20)
    found = topics.messages(name)
    assert len({(m.key(), m.partition()) for m in found}) == 30
    assert len({m.partition() for m in found}) == PARTITIONS
    assert all(m.timestamp()[1] >= began for m in found)


@pytest.mark.usefixtures("way")
def test_a_full_queue_is_waited_out_with_headers_too(
    connection: Connection, topics: Topics, name: str
) -> None:
    topics.create(name)
    producer = Transactions(connection, name, **{"queue.buffering.max.messages": 100})
    now = int(time.time() * 1000)
    records: list[Whole] = [
        (name, 0, None, b"%d" % number, now + number, [("n", b"%d" % number)])
        for number in range(5000)
    ]
    send(producer, whole(*records))
    eventually(lambda: len(came(topics, name)) >= 5000, within=20)
    assert came(topics, name) == records


@pytest.mark.usefixtures("way")
def test_partitions_that_came_later_are_written(
    connection: Connection, topics: Topics, name: str
) -> None:
    """The client knows a topic as it was when it was first written."""
    topics.create(name, partitions=1)
    producer = Transactions(connection, name)
    send(producer, whole(_at(name, 0)))
    topics.grow(name, 3)
    send(producer, whole(_at(name, 2), _at(name, 1)))
    topics.grow(name, 4)
    send(producer, whole(_at(name, 3)))
    eventually(lambda: len(topics.messages(name)) == 4, within=20)
    found = {(m.partition(), m.value()) for m in topics.messages(name)}
    assert found == {(n, b"%d" % n) for n in range(4)}


def _at(topic: str, partition: int) -> Whole:
    return topic, partition, b"k", b"%d" % partition, None, [("h", b"1")]


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize(("partition", "size"), [(0, 20_000), (PARTITIONS + 4, 1)])
def test_a_record_with_headers_that_is_refused(
    connection: Connection, topics: Topics, name: str, partition: int, size: int
) -> None:
    """Too large, or for a partition that is not there; nothing of the batch remains."""
    topics.create(name, partitions=PARTITIONS)
    producer = Transactions(connection, name, **{"message.max.bytes": 10_000})
    send(producer, encoded(name, [(b"k", b"first")]))
    good: Whole = (name, 0, b"k", b"v", MOMENT, [("h", b"1")])
    bad: Whole = (name, partition, b"k", b"x" * size, MOMENT, [("h", b"1")])
    with pytest.raises((RecordRefused, OutcomeUnknown)):
        produce(producer, whole(good, bad, good))
    producer.abort()
    send(producer, encoded(name, [(b"k", b"next")]))
    eventually(lambda: len(topics.messages(name)) >= 2, within=20)
    assert sorted(topics.values(name)) == ["first", "next"]


def test_the_refusal_says_how_large_and_what_to_do(
    connection: Connection, topics: Topics, name: str
) -> None:
    topics.create(name)
    producer = Transactions(connection, name, **{"message.max.bytes": 10_000})
    with pytest.raises(RecordRefused, match=r"a record of 20000 bytes.*max\.message\.bytes"):
        produce(producer, encoded(name, [(None, b"x" * 20_000)]))


@pytest.mark.usefixtures("way")
def test_a_name_that_no_topic_can_have_is_an_error(connection: Connection, name: str) -> None:
    producer = Transactions(connection, name)
    with pytest.raises((OutcomeUnknown, RecordRefused)):
        produce(producer, encoded("n" * 600, [(None, b"v")]))


@pytest.mark.usefixtures("way")
def test_a_producer_that_was_fenced_is_told_so(
    connection: Connection, topics: Topics, name: str
) -> None:
    topics.create(name)
    fenced = Transactions(connection, name)
    send(fenced, encoded(name, [(None, b"before")]))
    Transactions(connection, name)
    with pytest.raises(LeaseLost):
        send(fenced, encoded(name, [(None, b"after")]))
    assert arrived(topics, name, [(None, b"before")])


def test_both_ways_choose_the_same_partition_for_a_key(
    connection: Connection, topics: Topics, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    topics.create(name, partitions=PARTITIONS)
    rows: list[Row] = [(b"key-%d" % number, b"v") for number in range(50)]
    producer = Transactions(connection, name)
    send(producer, encoded(name, rows))
    monkeypatch.setattr(librdkafka, "available", lambda: False)
    send(producer, encoded(name, rows))
    eventually(lambda: len(topics.messages(name)) == 100)
    landed = [(m.key(), m.partition()) for m in topics.messages(name)]
    assert len(set(landed)) == 50
    assert len({partition for _, partition in landed}) == PARTITIONS
