"""Topic to objects to topic on a real worker and a real S3 endpoint: all of each record is back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition

from penstock.client import ConnectClient
from s3_endpoint import S3Endpoint
from sink_offsets import entry
from topics import Topics
from waiting import eventually

BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"
TEMPLATE = "{{topic}}/{{partition}}-{{start_offset:padding=true}}.parquet"
RECORDS = 20


def test_every_record_comes_back_as_it_was(
    connectors: ConnectClient, topics: Topics, s3: S3Endpoint, name: str
) -> None:
    back = f"{name}-back"
    topics.create(name, partitions=2)
    topics.create(back, partitions=2)
    _produce(topics, name)
    place = s3.bucket(name[:50])
    converters = {"key.converter": BYTES, "value.converter": BYTES}
    sink = {
        "connector.class": "ObjectSink",
        "topics": name,
        **place,
        **converters,
        "file.name.template": TEMPLATE,
        "format.output.type": "parquet",
        "format.output.fields": "key,value,timestamp,headers",
        "file.max.records": "5",
    }
    source = {
        "connector.class": "ObjectSource",
        "topic": back,
        **place,
        **converters,
        "file.name.template": TEMPLATE,
        "input.format": "parquet",
        "input.envelope": "true",
        "list.interval.ms": "100",
    }
    connectors.create(name, sink)
    written = [entry(name, partition, RECORDS // 2) for partition in (0, 1)]
    eventually(lambda: connectors.offsets(name) == written, within=120, what="all objects")
    connectors.create(back, source)
    eventually(
        lambda: sum(len(_records(topics, back, partition)) for partition in (0, 1)) == RECORDS,
        within=120,
        what="all records",
    )
    for partition in (0, 1):
        assert _records(topics, back, partition) == _records(topics, name, partition)


def _produce(topics: Topics, topic: str) -> None:
    producer = Producer({"bootstrap.servers": topics.bootstrap_servers})
    for number in range(RECORDS):
        producer.produce(
            topic,
            None if number % 5 == 4 else bytes([0xFF, number]),
            None if number % 7 == 6 else f"key {number}",
            partition=number % 2,
            timestamp=1_700_000_000_000 + number,
            headers=[("number", bytes([number])), ("null", None)] if number % 3 else [],
        )
    producer.flush(20)


def _records(topics: Topics, topic: str, partition: int) -> Sequence[tuple[Any, ...]]:
    """Key, value, timestamp and headers of all that is committed."""
    consumer = Consumer(
        {
            "bootstrap.servers": topics.bootstrap_servers,
            "group.id": "round-trip",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": "read_committed",
        }
    )
    consumer.assign([TopicPartition(topic, partition, 0)])
    found: list[tuple[Any, ...]] = []
    while (message := consumer.poll(20)) is not None and message.error() is None:
        shown = message.key(), message.value(), message.timestamp(), message.headers()
        found.append(shown)
    consumer.close()
    return found
