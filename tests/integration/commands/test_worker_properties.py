"""A worker with the properties file that comes with Kafka Connect, on a real broker."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from confluent_kafka.admin import ConfigResource, ResourceType

from penstock.embedded import EmbeddedBroker
from penstock.kafka.properties import parse_properties
from penstock.runtime.errors import Forbidden
from penstock.runtime.worker import Worker, WorkerConfig
from topics import Topics

FILE = Path(__file__).parents[2] / "data" / "connect-distributed.properties"


def test_it_works_as_it_is(
    broker: EmbeddedBroker, topics: Topics, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """But for the address of the broker; with settings of the topics and switches beside."""
    properties = {
        **parse_properties(FILE.read_text(), FILE.name),
        "bootstrap.servers": broker.bootstrap_servers,
        "config.storage.min.insync.replicas": "1",
        "config.storage.max.message.bytes": "2000000",
        "status.storage.partitions": "2",
        "topic.tracking.allow.reset": "false",
    }
    worker = Worker(WorkerConfig.from_properties(properties, tmp_path))
    with caplog.at_level(logging.WARNING):
        worker.start()
    try:
        assert worker.herder.health()[0] == "healthy"
        with pytest.raises(Forbidden, match=r"^Topic tracking reset is disabled\.$"):
            worker.herder.reset_topics("any")
        assert worker.herder.topics("any") == {"any": {"topics": []}}
    finally:
        worker.stop()
    ignored = [r.getMessage() for r in caplog.records if "are ignored" in r.getMessage()]
    assert ignored == ["Keys of the worker's config that are ignored: plugin.path (no effect here)"]
    known = topics.admin.list_topics(timeout=20).topics
    assert [len(known[f"connect-{store}"].partitions) for store in ("configs", "status")] == [1, 2]
    assert len(known["connect-offsets"].partitions) == 25
    resource = ConfigResource(ResourceType.TOPIC, "connect-configs")
    entries = topics.admin.describe_configs([resource])[resource].result(20)
    assert entries["max.message.bytes"].value == "2000000"
    assert entries["cleanup.policy"].value == "compact"
