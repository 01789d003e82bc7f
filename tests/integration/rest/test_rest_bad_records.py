"""Records that cannot be handled: the task fails and says where, or they are set aside."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Message

from penstock.client import ConnectClient
from topics import Topics
from waiting import eventually

PREFIX = "__connect.errors."
JSON = {
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "false",
}


@pytest.fixture
def collecting(connectors: ConnectClient, name: str, tmp_path: Path) -> Callable[..., None]:
    """Creates the collecting sink of this test."""

    def create(keys: dict[str, str]) -> None:
        config = {"connector.class": "CollectingSink", "topics": name, "out": str(tmp_path)}
        connectors.create(name, {**config, **keys})

    return create


def collected(folder: Path) -> list[Any]:
    lines = (folder / "task-0.jsonl").read_text().splitlines()
    return [json.loads(line)["value"] for line in lines]


def offset_of(connectors: ConnectClient, name: str) -> int:
    return sum(entry["offset"]["kafka_offset"] for entry in connectors.offsets(name))


def errors_in(message: Message) -> dict[str, str]:
    headers: Any = message.headers() or []
    return {k.removeprefix(PREFIX): v.decode() for k, v in headers if k.startswith(PREFIX)}


def test_none_is_tolerated(
    connectors: ConnectClient, topics: Topics, collecting, reach, name: str, tmp_path: Path
) -> None:
    """Topic, partition and offset are named, and altering past it is a way out."""
    topics.create(name, 2)
    topics.produce(name, [b"1", b"2", b"{nonsense", b"4"], partition=1)
    collecting(JSON)
    reach("RUNNING", "FAILED")
    trace = connectors.task_status(name, 0)["trace"]
    assert trace.startswith("FatalError: Tolerance exceeded in error handler: ")
    assert f"{name}-1 at offset 2" in trace
    assert "Traceback" not in trace
    assert connectors.status(name)["connector"]["state"] == "RUNNING"

    assert collected(tmp_path) == ["1", "2"]
    assert offset_of(connectors, name) == 2

    connectors.stop(name)
    position = {"kafka_topic": name, "kafka_partition": 1}
    past = {"partition": position, "offset": {"kafka_offset": 3}}
    connectors.alter_offsets(name, [past])
    connectors.resume(name)
    reach("RUNNING", "RUNNING")
    eventually(lambda: offset_of(connectors, name) == 5, what="the rest")
    assert collected(tmp_path) == ["1", "2", "4"]


GOOD = 1000
BAD = {"first": 0, "middle": 500, "last": GOOD}
"""Offsets of the bad record, which are its places in a batch if all fit into one."""


@pytest.mark.parametrize("schemas", ["false", "true"])
def test_following_the_advice_loses_nothing(
    connectors: ConnectClient, topics: Topics, name: str, tmp_path: Path, schemas: str
) -> None:
    """The file has all but the bad record, wherever that stands."""

    def value(number: int) -> bytes:
        enveloped = {"schema": {"type": "int32"}, "payload": number}
        return json.dumps(enveloped if schemas == "true" else number).encode()

    for place, bad in BAD.items():
        topic = f"{name}-{place}"
        values = [value(number) for number in range(GOOD)]
        topics.create(topic)
        topics.produce(topic, [*values[:bad], b"{nonsense", *values[bad:]])
        config = {"connector.class": "FileStreamSink", "topics": topic}
        config |= {**JSON, "value.converter.schemas.enable": schemas}
        connectors.create(topic, {**config, "file": str(tmp_path / place)})

    def trace(topic: str) -> str:
        eventually(lambda: connectors.task_status(topic, 0)["state"] == "FAILED", what=topic)
        return str(connectors.task_status(topic, 0)["trace"])

    for place, bad in BAD.items():
        topic = f"{name}-{place}"
        assert f"{topic}-0 at offset {bad}" in trace(topic)
        assert f"alter its offset of {topic}-0 to {bad + 1} and resume" in trace(topic)
        assert offset_of(connectors, topic) == bad
        assert (tmp_path / place).read_text().split() == [str(n) for n in range(bad)]
        connectors.stop(topic)
        position = {"kafka_topic": topic, "kafka_partition": 0}
        past = {"partition": position, "offset": {"kafka_offset": bad + 1}}
        connectors.alter_offsets(topic, [past])
        connectors.resume(topic)

    def stand_at_the_end() -> bool:
        """Past the bad record and the marker of the transaction."""
        return all(offset_of(connectors, f"{name}-{place}") == GOOD + 2 for place in BAD)

    eventually(stand_at_the_end, what="the rest")
    for place in BAD:
        assert (tmp_path / place).read_text().split() == [str(n) for n in range(GOOD)]


def test_all_are_tolerated_and_kept_as_dead_letters(
    connectors: ConnectClient, topics: Topics, collecting, name: str, tmp_path: Path
) -> None:
    dead = f"{name}-dead"
    topics.create(name)
    topics.create(dead)
    topics.produce(name, [b"1", b"{nonsense", b'"three"', b"", b"[5]", b"\xff\xfe", b'{"six":6}'])
    collecting(
        {
            **JSON,
            "errors.tolerance": "all",
            "errors.deadletterqueue.topic.name": dead,
            "errors.deadletterqueue.context.headers.enable": "true",
        }
    )
    eventually(lambda: offset_of(connectors, name) == 8, what="all records")
    letters = topics.messages(dead)
    assert b"{nonsense" in [letter.value() for letter in letters]
    assert b"\xff\xfe" in [letter.value() for letter in letters]
    assert len(collected(tmp_path)) + len(letters) == 7
    nonsense = errors_in(letters[0])
    assert nonsense["topic"] == name
    assert (nonsense["partition"], nonsense["offset"]) == ("0", "1")
    assert (nonsense["connector.name"], nonsense["task.id"]) == (name, "0")
    assert nonsense["stage"] == "VALUE_CONVERTER"
    assert nonsense["exception.class.name"]
    assert nonsense["exception.message"]
    assert nonsense["exception.message"] in nonsense["exception.stacktrace"]
    assert letters[0].timestamp() == topics.messages(name)[1].timestamp()
    assert connectors.status(name)["tasks"][0]["state"] == "RUNNING"
    # All letters and one marker: they were committed together.
    assert topics.end(dead) == len(letters) + 1


def test_a_refused_record_among_records_of_several_schemas(
    connectors: ConnectClient, topics: Topics, collecting, name: str, tmp_path: Path
) -> None:
    """A put is per run of equal schemas; what is refused in one run leaves the others alone."""
    dead = f"{name}-dead"
    topics.create(name)
    topics.create(dead)

    def typed(kind: str, payload: object) -> bytes:
        return json.dumps({"schema": {"type": kind}, "payload": payload}).encode()

    records = [("int32", 1), ("string", "a"), ("string", "bad"), ("string", "b"), ("int32", 2)]
    topics.produce(name, [typed(*record) for record in records])
    collecting(
        {
            "value.converter": "org.apache.kafka.connect.json.JsonConverter",
            "refuse": "bad",
            "errors.tolerance": "all",
            "errors.deadletterqueue.topic.name": dead,
        }
    )
    eventually(lambda: offset_of(connectors, name) == 6, what="all records")
    assert collected(tmp_path) == [1, "a", "b", 2]
    (letter,) = topics.messages(dead)
    assert (letter.value(), letter.headers()) == (typed("string", "bad"), None)


def test_a_dead_letter_topic_that_is_not_there_is_created(
    connectors: ConnectClient, topics: Topics, collecting, reach, name: str
) -> None:
    """With as many replicas as asked for: more than there are brokers cannot be had."""
    dead = f"{name}-dead"
    replicas = "errors.deadletterqueue.topic.replication.factor"
    topics.create(name)
    topics.produce(name, [b"{nonsense", b"2"])
    keys = {**JSON, "errors.tolerance": "all", "errors.deadletterqueue.topic.name": dead}
    collecting({**keys, replicas: "77"})
    reach("RUNNING", "FAILED")
    trace = connectors.task_status(name, 0)["trace"]
    assert trace.startswith(f"FatalError: Task failed to create new topic {dead}")
    connectors.patch_config(name, {replicas: "1"})
    eventually(lambda: offset_of(connectors, name) == 3, what="all records")
    assert [letter.value() for letter in topics.messages(dead)] == [b"{nonsense"]


def test_bad_records_of_a_source(
    connectors: ConnectClient, scripted, topics: Topics, reach, arrive, name: str
) -> None:
    """One fails its task; tolerated they are skipped, logged if wanted, and the source moves on."""
    bytes_only = "org.apache.kafka.connect.converters.ByteArrayConverter"
    scripted(count=3, value_converter=bytes_only)
    reach("RUNNING", "FAILED")
    trace = connectors.task_status(name, 0)["trace"]
    assert trace.startswith(
        f"FatalError: Tolerance exceeded in error handler: record for topic {name}"
    )
    connectors.patch_config(name, {"errors.tolerance": "all"})
    arrive(3)
    assert topics.values(name) == []
