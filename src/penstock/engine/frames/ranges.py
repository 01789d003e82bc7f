"""What one turn reads: exact ranges, fixed by the driver before Spark is asked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from enum import Enum, auto
from typing import Any

from penstock.kafka.range_reader import Range
from penstock.kafka.topics import PartitionId

Config = Mapping[str, str]


@dataclass(frozen=True)
class TurnPlan:
    """The ranges of one turn, and what they were planned for. Stored before the turn runs.

    ``epoch`` counts how often the connector's offsets were altered: after a rewind the same ranges
    are another turn, and are written again. ``target`` is where the turn writes, and ``config`` the
    hash of the connector's configuration.
    """

    epoch: int
    ranges: tuple[Range, ...]
    target: str
    config: str
    letters: str = ""
    """Tells which of the records were refused, and became dead letters when this was stored."""
    part_of: str = ""
    """The id of the plan that was stored, if these are only some of its ranges."""

    @property
    def id(self) -> str:
        """Equal for equal ranges of one epoch, whatever their order and the configuration.

        It begins with a letter, so that Spark, which finds it in the name of a folder, takes it for
        a text and not for a number.
        """
        if self.part_of:
            return self.part_of
        told = [[r.topic, r.partition, r.start, r.stop] for r in sorted(self.ranges)]
        return f"e{self.epoch}-{_digest([self.epoch, told])[:32]}"

    @property
    def ends(self) -> dict[PartitionId, int]:
        """The offsets to commit once the turn has happened."""
        return {(r.topic, r.partition): r.stop for r in self.ranges}

    def cut(self, ends: Mapping[PartitionId, int]) -> TurnPlan:
        """The same, without what is at these offsets or behind them."""
        left = (replace(r, stop=ends.get((r.topic, r.partition), r.stop)) for r in self.ranges)
        return replace(self, ranges=tuple(r for r in left if r.count))

    def to_json(self) -> str:
        """As it is stored."""
        return json.dumps(asdict(self), sort_keys=True)

    @staticmethod
    def from_json(text: str) -> TurnPlan:
        """What ``to_json`` made; ValueError if it is something else."""
        try:
            read = json.loads(text)
            ranges = tuple(Range(**each) for each in read.pop("ranges"))
            return TurnPlan(ranges=ranges, **read)
        except (TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"this is not the plan of a turn: {error}") from error


class Verdict(Enum):
    """What becomes of a plan that was stored by an earlier turn."""

    COMMIT = auto()
    """It has happened: commit its ends, and plan the next."""
    RUN = auto()
    """It may have begun: run just this, whatever else could be read by now."""
    DROP = auto()
    """It was never completed, and no longer holds: make a new plan."""


def verdict(plan: TurnPlan, *, happened: bool, epoch: int, config: str) -> Verdict:
    """Judge a stored plan by the present.

    Altered offsets decide first: what they say is to be read, even if it is written already. A
    changed configuration does not undo what has been written. What is left of a plan says whether
    it has happened, but cannot be run: it would be another turn.
    """
    if plan.epoch != epoch:
        return Verdict.DROP
    if happened:
        return Verdict.COMMIT
    return Verdict.RUN if plan.config == config and not plan.part_of else Verdict.DROP


def plan_turn(
    positions: Mapping[PartitionId, int],
    ends: Mapping[PartitionId, int],
    *,
    epoch: int,
    target: str,
    config: Config,
    most: int,
) -> TurnPlan | None:
    """About ``most`` offsets, in equal parts where there are that many; None if nothing is new.

    ``positions`` are the next offsets of the partitions to read, ``ends`` their last stable
    offsets. A partition whose end is not known is left for a later turn.
    """
    waiting = {p: (at, ends[p]) for p, at in positions.items() if ends.get(p, 0) > at}
    if not waiting:
        return None
    shares = _shares({p: end - at for p, (at, end) in waiting.items()}, max(most, len(waiting)))
    ranges = tuple(sorted(Range(*p, at, at + shares[p]) for p, (at, _) in waiting.items()))
    return TurnPlan(epoch, ranges, target, config_hash(config))


def _shares(sizes: Mapping[PartitionId, int], most: int) -> dict[PartitionId, int]:
    """How much each gets of ``most``: what small ones do not need goes to the others."""
    shares: dict[PartitionId, int] = {}
    left = most
    by_size = sorted(sizes.items(), key=lambda item: (item[1], item[0]))
    for number, (position, size) in enumerate(by_size):
        shares[position] = min(size, left // (len(by_size) - number))
        left -= shares[position]
    return shares


def cut(ranges: Iterable[Range], most: int) -> list[Range]:
    """The same offsets in pieces of at most ``most``, so that more tasks can read them."""
    return [
        Range(r.topic, r.partition, start, min(start + most, r.stop))
        for r in ranges
        for start in range(r.start, r.stop, most)
    ]


def config_hash(config: Config) -> str:
    """Tells whether a stored plan was made for this configuration; no value can be read from it."""
    return _digest(dict(config))


def _digest(what: Any) -> str:
    text = json.dumps(what, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
