"""What ``produce`` promises, whether the client takes columns or one record after another."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pytest

from penstock.engine.lease.producing import produce
from penstock.engine.pipeline.pipeline import Encoded
from penstock.kafka import librdkafka
from penstock.kafka.clients import Connection
from penstock.kafka.errors import LeaseLost, OutcomeUnknown, RecordRefused
from penstock.kafka.transactions import Transactions
from penstock.sdk.batches import record_batch
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
