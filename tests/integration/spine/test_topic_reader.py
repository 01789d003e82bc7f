"""What a sink lease reads, from a real broker and without Spark."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka import KafkaException, Producer, TopicPartition

from free_ports import free_port
from penstock.engine.lease.topic_reader import TopicReader
from penstock.kafka import librdkafka
from penstock.kafka.clients import Connection
from penstock.kafka.errors import LeaseLost
from penstock.kafka.topics import PartitionId
from topics import Topics
from waiting import eventually


@pytest.fixture(params=["columns", "records"])
def wanted(request: pytest.FixtureRequest) -> dict[str, bool]:
    """Headers are what columns cannot be fetched with."""
    return {"headers": request.param == "records"}


@contextmanager
def reading(topics: Topics, starts: dict[PartitionId, int], **wanted: Any) -> Iterator[TopicReader]:
    connection = Connection(topics.bootstrap_servers)
    with closing(TopicReader(connection, starts, **wanted)) as reader:
        yield reader


def read_until(reader: TopicReader, reached: dict[PartitionId, int]) -> list[pa.RecordBatch]:
    batches: list[pa.RecordBatch] = []

    def arrived() -> bool:
        batches.extend(reader.read(1000, 0.05))
        return reader.reached == reached

    eventually(arrived, what=f"{reached}")
    return batches


def values(batches: list[pa.RecordBatch], partition: int = 0) -> list[bytes | None]:
    return [
        value
        for batch in batches
        if batch.column("partition")[0].as_py() == partition
        for value in batch.column("value").to_pylist()
    ]


def test_it_goes_on_from_the_offset_it_was_given(
    topics: Topics, name: str, wanted: dict[str, bool]
) -> None:
    topics.create(name)
    topics.produce(name, [b"a", b"b", b"c"])
    with reading(topics, {(name, 0): 1}, **wanted) as reader:
        batches = read_until(reader, {(name, 0): 4})
    assert values(batches) == [b"b", b"c"]
    assert [o for b in batches for o in b.column("offset").to_pylist()] == [1, 2]
    assert batches[0].column("topic").to_pylist()[0] == name
    assert batches[0].column("timestamp")[0].as_py() > 0


def test_each_batch_holds_one_partition_in_order(
    topics: Topics, name: str, wanted: dict[str, bool]
) -> None:
    topics.create(name, 3)
    for partition in range(3):
        topics.produce(name, [b"%d" % n for n in range(500)], partition=partition)
    ends = {(name, p): 501 for p in range(3)}
    with reading(topics, dict.fromkeys(ends, 0), **wanted) as reader:
        batches = read_until(reader, ends)
    for partition in range(3):
        assert values(batches, partition) == [b"%d" % n for n in range(500)]
    assert all(len(set(b.column("partition").to_pylist())) == 1 for b in batches)


def test_over_aborted_records_and_markers_it_still_moves(
    topics: Topics, name: str, wanted: dict[str, bool]
) -> None:
    topics.create(name)
    topics.produce(name, [b"never"] * 20, abort=True)
    end = eventually(lambda: topics.end(name), what="the marker")
    with reading(topics, {(name, 0): 0}, **wanted) as reader:
        assert read_until(reader, {(name, 0): end}) == []


def test_what_is_not_committed_yet_is_waited_for(
    topics: Topics, name: str, wanted: dict[str, bool]
) -> None:
    topics.create(name)
    producer = topics.transaction(f"open-{name}")
    producer.produce(name, b"later")
    producer.flush(20)
    with reading(topics, {(name, 0): 0}, **wanted) as reader:
        assert reader.read(10, 1.0) == []
        assert reader.reached == {}
        producer.commit_transaction(20)
        assert values(read_until(reader, {(name, 0): 2})) == [b"later"]


def test_keys_nulls_and_headers_are_what_was_written(topics: Topics, name: str) -> None:
    topics.create(name)
    producer = topics.transaction(f"mixed-{name}")
    producer.produce(name, b"v", key=b"k", headers=[("h", b"\xff"), ("h", None)])
    producer.produce(name, None, key=b"")
    producer.produce(name, b"")
    producer.commit_transaction(20)
    with reading(topics, {(name, 0): 0}) as reader:
        batches = read_until(reader, {(name, 0): 4})
    rows = [row for batch in batches for row in batch.to_pylist()]
    assert [(row["key"], row["value"]) for row in rows] == [(b"k", b"v"), (b"", None), (None, b"")]
    both = [{"key": "h", "value": b"\xff"}, {"key": "h", "value": None}]
    assert [row["headers"] for row in rows] == [both, None, None]


def test_what_nobody_wants_is_null(topics: Topics, name: str) -> None:
    topics.create(name)
    topics.produce(name, [b"x"])
    with reading(topics, {(name, 0): 0}, headers=False, timestamps=False) as reader:
        [batch] = read_until(reader, {(name, 0): 2})
    assert (batch.column("headers")[0].as_py(), batch.column("timestamp")[0].as_py()) == (None,) * 2


def test_offsets_with_gaps_are_kept(topics: Topics, name: str, wanted: dict[str, bool]) -> None:
    topics.create(name)
    topics.produce(name, [b"a"])
    topics.produce(name, [b"never"], abort=True)
    topics.produce(name, [b"b", b"c"])
    with reading(topics, {(name, 0): 0}, **wanted) as reader:
        batches = read_until(reader, {(name, 0): 7})
    assert [o for b in batches for o in b.column("offset").to_pylist()] == [0, 4, 5]


def test_no_more_than_was_asked_for(topics: Topics, name: str, wanted: dict[str, bool]) -> None:
    topics.create(name)
    topics.produce(name, [b"x"] * 100)
    with reading(topics, {(name, 0): 0}, **wanted) as reader:
        batches = read_until_rows(reader, 100, most=7)
    assert max(batch.num_rows for batch in batches) <= 7


def read_until_rows(reader: TopicReader, rows: int, most: int) -> list[pa.RecordBatch]:
    batches: list[pa.RecordBatch] = []

    def arrived() -> bool:
        batches.extend(reader.read(most, 0.05))
        return sum(batch.num_rows for batch in batches) == rows

    eventually(arrived, what=f"{rows} records")
    return batches


def test_records_deleted_before_they_were_read_are_never_skipped(
    topics: Topics, name: str, wanted: dict[str, bool]
) -> None:
    topics.create(name)
    topics.produce(name, [b"x"] * 10)
    gone = TopicPartition(name, 0, 5)
    topics.admin.delete_records([gone])[gone].result(20)
    with reading(topics, {(name, 0): 0}, **wanted) as reader, pytest.raises(LeaseLost):
        read_until(reader, {(name, 0): 11})


def test_it_reads_with_the_settings_it_was_given(topics: Topics, name: str) -> None:
    """Whether a setting has arrived shows best where the client refuses it."""
    topics.create(name)
    with (
        pytest.raises(KafkaException, match=r"fetch\.max\.bytes"),
        reading(topics, {(name, 0): 0}, settings={"fetch.max.bytes": "-5"}),
    ):
        pass


def test_keys_and_values_of_all_kinds_and_sizes(
    topics: Topics, name: str, wanted: dict[str, bool]
) -> None:
    topics.create(name, config={"max.message.bytes": str(32 * 1024 * 1024)})
    sizes = [0, 1, 5, 12, 13, 300, 70_000, 3_000_000]
    written: list[tuple[bytes | None, bytes | None]] = [
        (key, value)
        for size in sizes
        for key in (None, b"", b"k" * min(size, 1000))
        for value in (None, bytes([size % 251]) * size)
    ]
    producer = topics.transaction(f"kinds-{name}")
    for key, value in written:
        producer.produce(name, value, key)
    producer.commit_transaction(20)
    with reading(topics, {(name, 0): 0}, **wanted) as reader:
        batches = read_until(reader, {(name, 0): len(written) + 1})
    rows = [row for batch in batches for row in batch.to_pylist()]
    assert [(row["key"], row["value"]) for row in rows] == written
    assert all(row["timestamp"] > 0 for row in rows)


@pytest.mark.parametrize("codec", ["none", "gzip", "lz4", "zstd"])
def test_compressed_records(topics: Topics, name: str, codec: str) -> None:
    topics.create(name)
    producer = Producer(
        {"bootstrap.servers": topics.bootstrap_servers, "compression.type": codec, "linger.ms": 50}
    )
    expected = [b"%06d" % number * 20 for number in range(3000)]
    for value in expected:
        producer.produce(name, value)
    assert producer.flush(20) == 0
    with reading(topics, {(name, 0): 0}, headers=False) as reader:
        batches = read_until(reader, {(name, 0): len(expected)})
    assert values(batches) == expected


def test_without_the_library_records_come_one_by_one(
    topics: Topics, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(librdkafka, "available", lambda: False)
    topics.create(name)
    topics.produce(name, [b"a", b"b"])
    with reading(topics, {(name, 0): 0}, headers=False) as reader:
        assert values(read_until(reader, {(name, 0): 3})) == [b"a", b"b"]


def test_a_client_that_logs_and_a_broker_that_is_not_there(wanted: dict[str, Any]) -> None:
    """Logs and errors call back into Python, from threads of the library."""
    connection = Connection(f"127.0.0.1:{free_port()}")
    with closing(TopicReader(connection, {("t", 0): 0}, **wanted)) as reader:
        for _ in range(20):
            assert reader.read(100, 0.05) == []


@pytest.mark.parametrize("beside", ["no-such-host.invalid:9092", "127.0.0.1:1"])
def test_a_broker_that_cannot_be_reached_beside_one_that_can(
    topics: Topics, name: str, wanted: dict[str, Any], beside: str
) -> None:
    """It is told of again and again, and nothing is the matter."""
    topics.create(name)
    topics.produce(name, [b"a"])
    # Sparse connections would leave the bad one alone once a good one is found.
    settings = {"enable.sparse.connections": False, "reconnect.backoff.max.ms": 100}
    connection = Connection(f"{beside},{topics.bootstrap_servers}")
    with closing(TopicReader(connection, {(name, 0): 0}, **wanted, settings=settings)) as reader:
        assert values(read_until(reader, {(name, 0): 2})) == [b"a"]
        for _ in range(10):
            assert reader.read(100, 0.1) == []
        topics.produce(name, [b"b"])
        assert values(read_until(reader, {(name, 0): 4})) == [b"b"]


def test_a_partition_that_does_not_exist(
    topics: Topics, name: str, wanted: dict[str, bool]
) -> None:
    topics.create(name)
    with reading(topics, {(name, 7): 0}, **wanted) as reader, pytest.raises(LeaseLost):
        read_until(reader, {(name, 7): 1})
