"""Topic to objects to topic on a real worker and a real S3 endpoint: all of each record is back."""

from __future__ import annotations

from typing import Any

from confluent_kafka import Producer

from penstock.client import ConnectClient
from s3_endpoint import S3Endpoint
from sink_offsets import entry
from topics import Topics
from waiting import eventually

BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"
TEMPLATE = "{{topic}}/{{partition}}-{{start_offset:padding=true}}.parquet"
RECORDS = 20
KEPT = {"retention.ms": "-1"}
"""Their timestamps are old."""


def test_every_record_comes_back_as_it_was(
    connectors: ConnectClient, topics: Topics, s3: S3Endpoint, name: str
) -> None:
    back = f"{name}-back"
    for topic in (name, back):
        topics.create(topic, partitions=2, config=KEPT)
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
    eventually(lambda: len(topics.messages(back)) == RECORDS, within=120, what="all records")
    assert _all(topics, back) == _all(topics, name)


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


def _all(topics: Topics, topic: str) -> list[tuple[Any, ...]]:
    """Partition, key, value, timestamp and headers of all that is committed."""
    found = topics.messages(topic)
    return [(m.partition(), m.key(), m.value(), m.timestamp(), m.headers()) for m in found]
