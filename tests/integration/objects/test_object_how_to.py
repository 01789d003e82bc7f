"""The configurations of the how-tos for objects, on a real worker and a real S3 endpoint."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import obstore
import pytest
from confluent_kafka import Producer

from documented import documented_alone
from penstock.client import ConnectClient
from s3_endpoint import KEY_ID, SECRET, S3Endpoint
from sink_offsets import entry
from topics import Topics
from waiting import eventually

RECORDS = 40
BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"
JSON = "org.apache.kafka.connect.json.JsonConverter"
OLD = {"retention.ms": "-1"}


def secrets_of(place: dict[str, str], folder: Path, name: str) -> dict[str, str]:
    """The bucket, with credentials that the configuration refers to."""
    file = folder / f"{name}.properties"
    file.write_text(f"id={KEY_ID}\nsecret={SECRET}\n")
    return {
        **place,
        "aws.access.key.id": f"${{file:{file}:id}}",
        "aws.secret.access.key": f"${{file:{file}:secret}}",
    }


@pytest.mark.heavy
def test_compressed_lines_to_a_topic(
    connectors: ConnectClient, topics: Topics, s3: S3Endpoint, secrets_folder: Path, name: str
) -> None:
    place, bucket = s3.bucket(name[:50]), name[:50]
    topics.create(name)
    for number in range(4):
        lines = b"".join(b'{"n":%d}\n' % n for n in range(10 * number, 10 * number + 10))
        obstore.put(s3.store(bucket), f"2026/{number}.jsonl.gz", gzip.compress(lines))
    obstore.put(s3.store(bucket), "2025/1.jsonl.gz", gzip.compress(b'{"n":-1}\n'))
    shown = documented_alone("docs/objects.md", having="aws.s3.prefix")
    mine = {**secrets_of(place, secrets_folder, name), "topic": name, "value.converter": JSON}
    connectors.create(name, {**shown, **mine})
    eventually(lambda: len(topics.values(name)) == RECORDS, within=120, what="all lines")
    found = topics.messages(name)
    assert sorted(json.loads(m.value() or b"")["n"] for m in found) == list(range(RECORDS))
    assert {m.key() for m in found} == {b"2026/%d.jsonl.gz" % n for n in range(4)}
    assert SECRET not in json.dumps(connectors.info(name))


@pytest.mark.heavy
def test_an_archive_and_back(
    connectors: ConnectClient, topics: Topics, s3: S3Endpoint, secrets_folder: Path, name: str
) -> None:
    """What docs/object-sink.md writes, docs/objects.md restores: keys, headers, times, places."""
    back = f"{name}-back"
    for topic in (name, back):
        topics.create(topic, partitions=2, config=OLD)
    _produce(topics, name)
    place = secrets_of(s3.bucket(name[:50]), secrets_folder, name)
    converters = {"key.converter": BYTES, "value.converter": JSON,
                  "value.converter.schemas.enable": "false"}  # fmt: skip
    sink = documented_alone("docs/object-sink.md", having="topics")
    connectors.create(
        name, {**sink, **place, **converters, "topics": name, "file.max.records": "5"}
    )
    written = [entry(name, partition, RECORDS // 2) for partition in (0, 1)]
    eventually(lambda: connectors.offsets(name) == written, within=120, what="all objects")
    assert len(s3.objects(name[:50])) == RECORDS // 5
    source = documented_alone("docs/objects.md", having="input.envelope")
    template = {"file.name.template": sink["file.name.template"]}
    more = {"input.key.type": "bytes", "topic": back}
    connectors.create(back, {**source, **place, **converters, **template, **more})
    eventually(lambda: len(topics.messages(back)) == RECORDS, within=120, what="all records")
    assert _all(topics, back) == _all(topics, name)


def _produce(topics: Topics, topic: str) -> None:
    producer = Producer({"bootstrap.servers": topics.bootstrap_servers})
    for number in range(RECORDS):
        producer.produce(
            topic,
            None if number % 5 == 4 else b'{"n":%d,"text":"\xc3\xbc"}' % number,
            f"key {number}",
            partition=number % 2,
            timestamp=1_700_000_000_000 + number,
            headers=[("number", b"%d" % number), ("raw", b"\xff")] if number % 3 else [],
        )
    producer.flush(20)


def _all(topics: Topics, topic: str) -> list[tuple[Any, ...]]:
    found = topics.messages(topic)
    return [(m.partition(), m.key(), m.value(), m.timestamp(), m.headers()) for m in found]
