"""What Kafka says about the partitions of a sink, requested together and used together.

A plan is made from one snapshot and nothing else. Lists of topics are cached, and partial while a
broker starts: what they leave out is not in the snapshot, and a partition that is not in the
snapshot is not started. Otherwise it would start at its first record although its group has a
position, which was not requested.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from penstock.kafka.groups import Committed
from penstock.kafka.partition_offsets import Answers
from penstock.kafka.topics import PartitionId


@dataclass(frozen=True)
class Positions:
    """Committed positions, and the partitions for which they were requested.

    Nothing is known about a partition that was not requested, which is different from a partition
    for which nothing is committed.
    """

    asked: frozenset[PartitionId] = frozenset()
    committed: Mapping[PartitionId, Committed] = field(default_factory=dict)
    topic_ids: Mapping[PartitionId, str] = field(default_factory=dict)
    """The topic ids of positions, if known: a recreated topic has the same name."""
    expired: frozenset[PartitionId] = frozenset()
    """Positions that the broker has lost, and that a copy still has."""

    def moved(self, to: Mapping[PartitionId, Committed], topic_ids: Mapping[str, str]) -> Positions:
        """After a commit of topics with these ids."""
        ids = {p: topic_ids[p[0]] for p in to if p[0] in topic_ids}
        known = {p: each for p, each in self.topic_ids.items() if p not in to}
        return Positions(
            self.asked | to.keys(),
            {**self.committed, **to},
            {**known, **ids},
            self.expired - to.keys(),
        )

    def differs(self, before: Positions) -> bool:
        """Whether anything that was requested both times has changed."""
        both = self.asked & before.asked
        return any(self.committed.get(p) != before.committed.get(p) for p in both)

    def knowing(self, before: Positions) -> Positions:
        """With the earlier topic ids of positions that did not change."""
        same = {
            p: each
            for p, each in before.topic_ids.items()
            if p in self.committed and before.committed.get(p) == self.committed[p]
        }
        return replace(self, topic_ids={**self.topic_ids, **same})


@dataclass(frozen=True)
class Start:
    """Where a lease starts in a partition."""

    offset: int
    metadata: str = ""
    unsaid: bool = False
    """Whether the group has another offset, or would start elsewhere the next time: the start is
    then committed first."""


@dataclass(frozen=True)
class Snapshot:
    """The answers. ``begins`` and ``ends`` were requested after the positions, and ``topic_ids``
    last: the other answers are about these topics, or about earlier ones of the same names."""

    positions: Positions
    begins: Mapping[PartitionId, int]
    ends: Mapping[PartitionId, int]
    """High watermarks: no position can be beyond."""
    topic_ids: Mapping[str, str]
    tips: Mapping[PartitionId, int] | None = None
    """Last stable offsets, if a partition without a position starts there."""

    def starts(self) -> dict[PartitionId, Start]:
        """Where to continue or, if nothing is committed, to start; for no other partition."""
        begun = {p: self._start(p) for p in self._answered() if p not in self.unreachable()}
        return {p: start for p, start in begun.items() if start is not None}

    def _start(self, position: PartitionId) -> Start | None:
        committed = self.positions.committed.get(position)
        if committed is not None and not self._is_former(position):
            return Start(*committed, unsaid=position in self.positions.expired)
        # How far the target is written stays valid, whatever happened to the topic.
        metadata = "" if committed is None else committed[1]
        first = (self.begins if self.tips is None else self.tips).get(position)
        unsaid = committed is not None or self.tips is not None
        return None if first is None else Start(first, metadata, unsaid)

    def _answered(self) -> list[PartitionId]:
        return [
            p
            for p in self.positions.asked
            if p in self.begins and p in self.ends and p[0] in self.topic_ids
        ]

    def _is_former(self, position: PartitionId) -> bool:
        known = self.positions.topic_ids.get(position)
        return known is not None and known != self.topic_ids.get(position[0], known)

    def former(self) -> dict[PartitionId, int]:
        """Positions in topics that were deleted and recreated since, for which they are not valid.

        Includes those of a lease that committed at the very moment when that happened.
        """
        return {p: o for p, (o, _) in self.positions.committed.items() if self._is_former(p)}

    def current(self) -> Positions:
        """The positions without those."""
        former = self.former()
        kept = {p: each for p, each in self.positions.committed.items() if p not in former}
        return replace(self.positions, committed=kept)

    def unreachable(self) -> dict[PartitionId, str]:
        """Positions from which no task can continue, and the error for each."""
        found = {p: self._complaint(p) for p in self._answered()}
        return {p: text for p, text in found.items() if text}

    def _complaint(self, position: PartitionId) -> str:
        committed = self.positions.committed.get(position)
        if committed is None or self._is_former(position):
            return ""
        offset, begin, end = committed[0], self.begins[position], self.ends[position]
        if offset < begin:
            return deleted_text(position, offset, begin)
        return beyond_text(position, offset, end) if offset > end else ""


def deleted_text(position: PartitionId, offset: int, begin: int) -> str:
    """Records deleted before they were read: never skipped silently."""
    topic, partition = position
    return (
        f"UserError: {topic}-{partition} begins at offset {begin}, but this connector "
        f"is at {offset}: {begin - offset} offsets were deleted before they were "
        "read. To continue with what is left, stop the connector, alter its offset to "
        f"{begin}, resume it."
    )


def beyond_text(position: PartitionId, offset: int, end: int) -> str:
    """New records would be skipped silently until the partition has grown that far."""
    topic, partition = position
    return (
        f"UserError: {topic}-{partition} ends at offset {end}, but this connector is at "
        f"{offset}: the topic was recreated, or has lost records. To continue, stop the "
        "connector, alter its offset (null: from the beginning), resume it."
    )


class Questions(Protocol):
    """The requests of a snapshot to Kafka; each may raise KafkaFault."""

    def positions(self, partitions: Iterable[PartitionId]) -> Positions:
        """What is committed, for these partitions at least."""

    def begins(self, partitions: Iterable[PartitionId]) -> Answers:
        """The first offsets that partitions still have."""

    def ends(self, partitions: Iterable[PartitionId], *, committed: bool = False) -> Answers:
        """High watermarks, or last stable offsets."""

    def topic_ids(self, topics: Iterable[str]) -> Mapping[str, str]:
        """Ids of the topics that exist."""


def take_snapshot(
    questions: Questions, partitions: Iterable[PartitionId], *, from_end: bool
) -> Snapshot:
    """Request everything about these partitions. No lease of the sink may run at that time."""
    wanted = list(partitions)
    positions = questions.positions(wanted)
    begins = questions.begins(wanted).offsets
    ends = questions.ends(wanted).offsets
    tips = questions.ends(wanted, committed=True).offsets if from_end else None
    ids = questions.topic_ids({topic for topic, _ in wanted})
    return Snapshot(positions, begins, ends, ids, tips)
