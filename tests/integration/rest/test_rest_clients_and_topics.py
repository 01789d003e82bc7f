"""What a connector's config says of its Kafka clients and topics, on a real broker."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from confluent_kafka.admin import ConfigResource, ResourceType

from penstock.client import ConnectClient
from topics import Topics
from waiting import eventually


def settings_of(topics: Topics, topic: str) -> dict[str, str | None]:
    resource = ConfigResource(ResourceType.TOPIC, topic)
    entries = topics.admin.describe_configs([resource])[resource].result(20)
    return {name: entry.value for name, entry in entries.items()}


def holds(topics: Topics, topic: str, count: int) -> bool:
    return len(topics.values(topic)) == count


def test_topics_are_created_as_their_group_says(
    connectors: ConnectClient, topics: Topics, name: str
) -> None:
    """One in a group of its own by a router, the other by the default group, one left as it is."""
    topics.create(f"old-{name}", 2)
    base = {
        "connector.class": "ScriptedSource",
        "count": "5",
        "topic.creation.default.partitions": "3",
        "topic.creation.default.replication.factor": "-1",
        "topic.creation.groups": "small",
        "topic.creation.small.include": "small-.*",
        "topic.creation.small.partitions": "1",
        "topic.creation.small.cleanup.policy": "compact",
    }
    for kind in ("old", "small", "new"):
        connectors.create(f"{kind}-{name}", {**base, "topic": f"{kind}-{name}"})
    for kind, partitions in (("old", 2), ("small", 1), ("new", 3)):
        topic = f"{kind}-{name}"
        eventually(partial(holds, topics, topic, 5), what=f"records in {topic}")
        assert len(topics.admin.list_topics(timeout=20).topics[topic].partitions) == partitions
    assert settings_of(topics, f"small-{name}")["cleanup.policy"] == "compact"
    assert settings_of(topics, f"new-{name}")["cleanup.policy"] == "delete"


def test_a_topic_that_cannot_be_created_fails_the_task(
    connectors: ConnectClient, reach, name: str
) -> None:
    config = {
        "connector.class": "ScriptedSource",
        "topic": name,
        "topic.creation.default.partitions": "1",
        "topic.creation.default.replication.factor": "77",
    }
    connectors.create(name, config)
    reach("RUNNING", "FAILED")
    trace = connectors.task_status(name, 0)["trace"]
    assert trace.startswith(f"FatalError: Task failed to create new topic {name} with the settings")
    assert "eplication" in trace
    assert "Traceback" not in trace


def test_a_producers_override_reaches_the_producer(
    connectors: ConnectClient, topics: Topics, reach, name: str, tmp_path: Path
) -> None:
    """A largest request smaller than the record: it would fit without the override."""
    topics.create(name)
    file = tmp_path / "long.txt"
    file.write_text("x" * 5000 + "\n")
    config = {"connector.class": "FileStreamSource", "topic": name, "file": str(file)}
    connectors.create(name, {**config, "producer.override.max.request.size": "2000"})
    reach("RUNNING", "FAILED")
    assert "does not accept a record of 5000 bytes" in connectors.task_status(name, 0)["trace"]
    connectors.put_config(name, {**config, "producer.override.max.request.size": "20000"})
    eventually(lambda: topics.values(name) == ["x" * 5000], what="the record")
