"""Which ranges a sink turn reads: pure functions, and a budget that learns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from penstock.columnar.java_regex import compiled
from penstock.kafka.topics import Position

TURN_SECONDS = 2.0
MOST_BYTES = 256 * 1024 * 1024
MOST_RECORDS = 2_000_000
FEWEST_RECORDS = 1_000


def subscribed(config: Mapping[str, str], known: Mapping[str, int]) -> list[Position]:
    """The partitions a sink reads now; topics that do not exist yet have none."""
    listed = [topic.strip() for topic in config.get("topics", "").split(",") if topic.strip()]
    regex = config.get("topics.regex", "").strip()
    chosen = list(filter(compiled(regex).fullmatch, known)) if regex else listed
    return sorted((t, p) for t in chosen for p in range(known.get(t, 0)))


def assign(
    partitions: Sequence[Position], tasks: int, previous: Mapping[Position, int]
) -> dict[Position, int]:
    """Which task writes which partition: whoever has one keeps it, new ones go to the idlest."""
    kept = {p: previous[p] for p in partitions if previous.get(p, tasks) < tasks}
    for position in partitions:
        if position not in kept:
            load = list(kept.values())
            kept[position] = min(range(tasks), key=load.count)
    return kept


@dataclass
class Budget:
    """How many records make one to three seconds of work, learnt from the turns before."""

    per_second: float = 25_000.0
    mean_bytes: float = 1_000.0

    def records(self) -> int:
        """How many records the next turn should plan."""
        by_time = self.per_second * TURN_SECONDS
        by_size = MOST_BYTES / max(self.mean_bytes, 1.0)
        return int(max(FEWEST_RECORDS, min(by_time, by_size, MOST_RECORDS)))

    def learn(self, records: int, payload_bytes: int, seconds: float) -> None:
        """Take in what a turn has done; small turns say nothing about speed."""
        if records < FEWEST_RECORDS // 2:
            return
        self.per_second = (self.per_second + 2 * records / max(seconds, 0.1)) / 3
        self.mean_bytes = payload_bytes / records


def plan_ranges(
    starts: Mapping[Position, int], ends: Mapping[Position, int], budget: Budget
) -> dict[Position, tuple[int, int]]:
    """Ranges [start, end) of every partition that has something new, the budget shared evenly."""
    behind = {p: ends[p] - start for p, start in starts.items() if ends.get(p, 0) > start}
    if not behind:
        return {}
    left, ranges = budget.records(), {}
    for i, (position, lag) in enumerate(sorted(behind.items(), key=lambda item: item[1])):
        share = max(1, left // (len(behind) - i))
        taken = min(lag, share)
        left -= taken
        ranges[position] = (starts[position], starts[position] + taken)
    return ranges
