"""Topic to objects through a real worker: complete, whole and once, across leases and kills."""

from __future__ import annotations

import base64
import itertools
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from penstock.client import ConnectClient
from penstock.runtime.worker import Worker
from runners import resting
from s3_endpoint import S3Endpoint
from sink_offsets import entry
from topics import Topics
from waiting import eventually

HOUR = 3_600_000
JSON_LINES = {
    "format.output.type": "jsonl",
    "file.compression.type": "none",
    "value.converter": "org.apache.kafka.connect.storage.StringConverter",
    "key.converter": "org.apache.kafka.connect.storage.StringConverter",
}


def lines(content: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in content.splitlines()]


def test_records_can_be_restored_from_objects(
    connectors: ConnectClient, topics: Topics, s3: S3Endpoint, name: str
) -> None:
    topics.create(name, partitions=2)
    producer = Producer({"bootstrap.servers": topics.bootstrap_servers})
    for number in range(20):
        producer.produce(
            name,
            f"value {number}",
            f"key {number}",
            partition=number % 2,
            timestamp=1_700_000_000_000 + number,
            headers=[("number", bytes([number]))],
        )
    producer.flush(20)
    config = {
        "connector.class": "io.aiven.kafka.connect.s3.AivenKafkaConnectS3SinkConnector",
        "topics": name,
        **s3.bucket(name[:50]),
        **JSON_LINES,
        "file.name.template": "{{topic}}/{{partition}}/{{start_offset:padding=true}}.jsonl",
        "format.output.fields": "key,value,timestamp,headers",
        "file.max.records": "5",
    }
    connectors.create(name, config)
    done = [entry(name, 0, 10), entry(name, 1, 10)]
    eventually(lambda: connectors.offsets(name) == done, within=120, what="all objects")
    objects = s3.objects(name[:50])
    assert list(objects) == [
        f"{name}/{partition}/{start:020}.jsonl" for partition in (0, 1) for start in (0, 5)
    ]
    restored = [record for content in objects.values() for record in lines(content)]
    numbers = [*range(0, 20, 2), *range(1, 20, 2)]
    assert [record["value"] for record in restored] == [f"value {n}" for n in numbers]
    assert [record["key"] for record in restored] == [f"key {n}" for n in numbers]
    ends = [record["timestamp"][-5:] for record in restored]
    assert ends == [f".{n:03}Z" for n in numbers]
    assert [base64.b64decode(r["headers"][0]["value"])[0] for r in restored] == numbers


class Clocked:
    """A sink with a movable clock; its leases can be counted and killed."""

    def __init__(self, clock: Path) -> None:
        self.clock = clock
        self.set(0)

    def set(self, time: int) -> None:
        self.clock.with_suffix(".new").write_text(str(time))
        self.clock.with_suffix(".new").rename(self.clock)

    def leases(self) -> list[int]:
        diary = Path(f"{self.clock}.leases")
        return [int(line) for line in diary.read_text().splitlines()] if diary.exists() else []

    def put(self, end: int) -> bool:
        told = Path(f"{self.clock}.put")
        return told.exists() and told.read_text() == str(end)

    def kill(self) -> None:
        """SIGKILL of the process that has the lease, and wait for the next lease."""
        before = self.leases()
        os.kill(before[-1], signal.SIGKILL)
        eventually(lambda: len(self.leases()) > len(before), what="another lease")


@pytest.mark.heavy
def test_one_object_an_hour_across_leases_a_restart_and_a_kill(
    connectors: ConnectClient, topics: Topics, s3: S3Endpoint, name: str, tmp_path: Path
) -> None:
    sink = Clocked(tmp_path / "clock")
    topics.create(name)
    config = {
        "connector.class": "ClockedObjectSink",
        "topics": name,
        "clock": str(sink.clock),
        **s3.bucket(bucket := name[:50]),
        **JSON_LINES,
        "file.max.age.ms": str(HOUR),
    }
    connectors.create(name, config)
    producer = Producer({"bootstrap.servers": topics.bootstrap_servers})
    interruptions = iter(
        [lambda: None, lambda: connectors.restart(name, include_tasks=True), sink.kill]
    )
    for hour in range(3):
        for quarter in range(4):
            sink.set(hour * HOUR + quarter * HOUR // 4)
            for number in range(10):
                producer.produce(name, f"{hour} {quarter} {number}")
            producer.flush(20)
            end = 40 * hour + 10 * (quarter + 1)
            eventually(lambda: sink.put(end), what=f"offset {end}")  # noqa: B023 (called at once)
            if quarter == 1:
                next(interruptions)()
        assert len(s3.objects(bucket)) == hour
        sink.set((hour + 1) * HOUR)
        done = [entry(name, 0, 40 * (hour + 1))]
        eventually(lambda: connectors.offsets(name) == done, what=f"hour {hour}")  # noqa: B023 (called at once)
    objects = s3.objects(bucket)
    assert list(objects) == sorted(f"{name}-0-{40 * hour}" for hour in range(3))
    for hour, content in enumerate(objects[f"{name}-0-{40 * hour}"] for hour in range(3)):
        wanted = [f"{hour} {q} {n}" for q in range(4) for n in range(10)]
        assert [record["value"] for record in lines(content)] == wanted


@pytest.mark.heavy
def test_killed_again_and_again_every_record_is_in_one_object(
    connectors: ConnectClient,
    topics: Topics,
    worker: Worker,
    s3: S3Endpoint,
    name: str,
    tmp_path: Path,
) -> None:
    sink = Clocked(tmp_path / "clock")
    topics.create(name)
    config = {
        "connector.class": "ClockedObjectSink",
        "topics": name,
        "clock": str(sink.clock),
        **s3.bucket(bucket := name[:50]),
        **JSON_LINES,
        "file.max.records": "700",
        "file.max.age.ms": "1",
    }
    connectors.create(name, config)
    producer = Producer({"bootstrap.servers": topics.bootstrap_servers})
    hours = itertools.count(HOUR, HOUR)
    for kill in range(3):
        before = len(sink.leases())
        for number in range(5000):
            producer.produce(name, str(kill * 5000 + number))
        producer.flush(20)
        eventually(lambda: len(sink.leases()) > before, what="a lease")  # noqa: B023 (called at once)
        sink.kill()
        done = [entry(name, 0, 5000 * (kill + 1))]

        def all_are_committed() -> bool:
            # An object grows older only while the clock goes on.
            sink.set(next(hours))
            return connectors.offsets(name) == done  # noqa: B023 (called at once)

        eventually(all_are_committed, what="all records")
        # A task that dies twice without a lease that ends well in between is FAILED.
        eventually(lambda: resting(worker, name), what="a lease that ends well")
    objects = s3.objects(bucket)
    starts = {int(each.rpartition("-")[2]): lines(content) for each, content in objects.items()}
    values = [int(record["value"]) for _, records in sorted(starts.items()) for record in records]
    assert values == list(range(15_000))
