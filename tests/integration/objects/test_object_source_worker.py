"""Objects of a real S3 endpoint to a topic, on a real worker."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from free_ports import free_port
from object_sources import Objects
from own_cluster import own_topics
from penstock.client import ConnectClient
from penstock.embedded import EmbeddedBroker
from s3_endpoint import S3Endpoint
from topics import Topics
from waiting import eventually
from worker_process import WorkerProcess

OBJECTS = 40
IN_ONE = 10_000
KILLS = 3


def config_of(objects: Objects, topic: str, tasks: int = 1) -> dict[str, str]:
    return {
        **objects.config(),
        "connector.class": "io.aiven.kafka.connect.s3.source.S3SourceConnector",
        "topic": topic,
        "tasks.max": str(tasks),
        "key.converter": "org.apache.kafka.connect.converters.ByteArrayConverter",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
        "list.interval.ms": "100",
    }


def numbers(topics: Topics, topic: str) -> list[int]:
    return [json.loads(value)["n"] for value in topics.values(topic)]


def test_an_objects_offset_is_set_to_null_and_it_is_read_again(
    connectors: ConnectClient, topics: Topics, s3: S3Endpoint, name: str
) -> None:
    topics.create(name)
    objects = Objects(s3.bucket(name), name=name)
    objects.write(range(30))
    connectors.create(name, config_of(objects, name, tasks=2))
    eventually(lambda: len(numbers(topics, name)) == 30, within=120, what="three objects")
    objects.write(range(30, 40))
    eventually(lambda: len(numbers(topics, name)) == 40, within=60, what="the fourth object")
    assert sorted(numbers(topics, name)) == list(range(40))

    connectors.stop(name)
    listed = connectors.offsets(name)
    assert {tuple(each["partition"]) for each in listed} == {("bucket", "virtualBucket")}
    one = {"bucket": name, "objectKey": "in/00002.jsonl"}
    connectors.alter_offsets(name, [{"partition": one, "offset": None}])
    assert {"partition": one, "offset": {"recordCount": 0}} in connectors.offsets(name)
    connectors.resume(name)
    again = sorted([*range(40), *range(10, 20)])
    eventually(lambda: sorted(numbers(topics, name)) == again, within=60, what="just that one")
    eventually(
        lambda: not [o for o in connectors.offsets(name) if "objectKey" in o["partition"]],
        within=60,
        what="its offset to be forgotten",
    )
    assert {tuple(each["partition"]) for each in connectors.offsets(name)} == {
        ("bucket", "virtualBucket")
    }


@pytest.mark.heavy
def test_every_record_once_with_the_worker_killed(
    broker: EmbeddedBroker, topics: Topics, s3: S3Endpoint, name: str, tmp_path: Path
) -> None:
    """SIGKILL in the middle of objects; tasks.max changes as well."""
    topics.create(name)
    objects = Objects(s3.bucket(name), name=name)
    for number in range(OBJECTS):
        objects.put(f"in/{number:05}", range(number * IN_ONE, (number + 1) * IN_ONE))
    worker = WorkerProcess(
        tmp_path / "worker",
        port=free_port(),
        bootstrap_servers=broker.bootstrap_servers,
        properties=own_topics(name),
    )
    try:
        worker.start()
        worker.client.create(name, config_of(objects, name))
        for kill in range(1, KILLS + 1):
            bound = kill * OBJECTS * IN_ONE // (KILLS + 1)
            eventually(lambda: topics.end(name) >= bound, within=240, what=f"{bound} records")  # noqa: B023 (asked at once)
            worker.kill()
            worker.start()
            worker.client.put_config(name, config_of(objects, name, tasks=1 + kill % 3))
        whole = OBJECTS * IN_ONE
        eventually(lambda: topics.end(name) >= whole, within=300, what="all records")
        eventually(lambda: _is_idle(worker.client, name), within=120, what="the last commit")
    finally:
        worker.close()
    counted = Counter(numbers(topics, name))
    assert (len(counted), max(counted.values())) == (whole, 1)


def _is_idle(client: ConnectClient, name: str) -> bool:
    return not [each for each in client.offsets(name) if "objectKey" in each["partition"]]
