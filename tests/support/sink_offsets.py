"""Offsets of sinks as the REST API shows them and as the broker has them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from confluent_kafka import ConsumerGroupTopicPartitions

from topics import Topics


def entry(topic: str, partition: int, offset: int | None) -> dict[str, Any]:
    """One partition, in the shape of the REST API."""
    return {
        "partition": {"kafka_topic": topic, "kafka_partition": partition},
        "offset": None if offset is None else {"kafka_offset": offset},
    }


def in_group(topics: Topics, group: str) -> list[dict[str, Any]]:
    """What the broker says of a group, in the shape of the REST API."""
    request = ConsumerGroupTopicPartitions(group)
    future = topics.admin.list_consumer_group_offsets([request], require_stable=True)
    found = next(iter(future.values())).result(20).topic_partitions
    known = sorted((tp.topic, tp.partition, tp.offset) for tp in found if tp.offset >= 0)
    return [entry(*each) for each in known]


def groups(topics: Topics) -> list[str]:
    """The groups that the broker knows."""
    listed = topics.admin.list_consumer_groups().result(20)
    return [group.group_id for group in listed.valid]


def collected(folder: Path) -> list[dict[str, Any]]:
    """What a collecting sink has written into a folder."""
    files = sorted(folder.glob("task-*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]
