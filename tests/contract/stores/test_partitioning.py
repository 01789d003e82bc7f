"""Keys land on the partitions on which Java clients put them: compaction depends on it."""

from __future__ import annotations

import pytest
from kafka.partitioner.default import murmur2

from penstock.kafka import clients
from penstock.kafka.clients import Connection
from penstock.kafka.transactions import Transactions
from topics import Topics
from waiting import eventually

PARTITIONS = 7
# Kafka's own table (UtilsTest.testMurmur2); Java's ints are signed.
JAVA = {
    b"21": -973932308,
    b"foobar": -790332482,
    b"a-little-bit-long-string": -985981536,
    b"a-little-bit-longer-string": -1486304829,
    b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    b"abc": 479470107,
}
KEYS = [
    *JAVA,
    b"",
    b'["local-file-source",{"filename":"test.txt"}]',
    '["größe",{"file":"ñ"}]'.encode(),
    b"status-connector-my-sink",
    b"status-task-my-sink-0",
]


def java_partition(key: bytes) -> int:
    """Java's default partitioner; the hash is an independent implementation's."""
    return int(murmur2(key) & 0x7FFFFFFF) % PARTITIONS


@pytest.mark.parametrize(("key", "signed"), JAVA.items())
def test_the_yardstick_itself(key: bytes, signed: int) -> None:
    assert murmur2(key) & 0xFFFFFFFF == signed & 0xFFFFFFFF


def landed(topics: Topics, topic: str) -> dict[bytes, int]:
    return {m.key() or b"": m.partition() or 0 for m in topics.messages(topic)}


def test_a_plain_producer(connection: Connection, topics: Topics, name: str) -> None:
    topics.create(name, partitions=PARTITIONS)
    producer = clients.producer(connection)
    for key in KEYS:
        producer.produce(name, b"v", key)
    assert producer.flush(20) == 0
    assert landed(topics, name) == {key: java_partition(key) for key in KEYS}


def test_a_transactional_producer(connection: Connection, topics: Topics, name: str) -> None:
    topics.create(name, partitions=PARTITIONS)
    transactions = Transactions(connection, name)
    transactions.commit([(name, key, None) for key in KEYS], [])
    # The markers follow the commit's answer.
    eventually(lambda: len(landed(topics, name)) >= len(KEYS), what="all keys")
    assert landed(topics, name) == {key: java_partition(key) for key in KEYS}
