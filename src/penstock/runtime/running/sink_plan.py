"""Which partitions a sink reads, and with which task: pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from penstock.columnar.java_regex import compiled
from penstock.kafka.topics import PartitionId


def subscribed(config: Mapping[str, str], known: Mapping[str, int]) -> list[PartitionId]:
    """The partitions a sink reads now; topics that do not exist yet have none."""
    regex = config.get("topics.regex", "").strip()
    chosen = list(filter(compiled(regex).fullmatch, known)) if regex else _listed(config)
    return sorted((t, p) for t in chosen for p in range(known.get(t, 0)))


def missing(config: Mapping[str, str], known: Mapping[str, int]) -> list[str]:
    """Topics that a sink names and that are not in the list of topics."""
    return [topic for topic in _listed(config) if topic not in known]


def _listed(config: Mapping[str, str]) -> list[str]:
    return [topic.strip() for topic in config.get("topics", "").split(",") if topic.strip()]


def assign(
    partitions: Sequence[PartitionId], tasks: int, previous: Mapping[PartitionId, int]
) -> dict[PartitionId, int]:
    """Which task writes which partition: tasks keep theirs, new ones go to the task with fewest."""
    kept = {p: previous[p] for p in partitions if previous.get(p, tasks) < tasks}
    for position in partitions:
        if position not in kept:
            load = list(kept.values())
            kept[position] = min(range(tasks), key=load.count)
    return kept
