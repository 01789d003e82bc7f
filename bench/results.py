"""What a row has found: figures of each side, and whether its targets are met."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.rounds import Comparison, median, spread

OURS = "penstock"
CONNECT = "kafka connect"
ITSELF = ""
"""What a target is against that bounds the figure of ours, and no ratio."""


@dataclass(frozen=True)
class Target:
    """A bound on ours divided by theirs, or on ours alone."""

    against: str
    at_least: float | None = None
    at_most: float | None = None

    def met(self, value: float) -> bool:
        """Whether the ratio, or the figure of ours, is within the bound."""
        above = self.at_least is None or value >= self.at_least
        return above and (self.at_most is None or value <= self.at_most)

    def __str__(self) -> str:
        times = "" if self.against == ITSELF else "x"
        bounds = [("at least", self.at_least), ("at most", self.at_most)]
        return " and ".join(
            f"{word} {bound:,g}{times}" for word, bound in bounds if bound is not None
        )


@dataclass(frozen=True)
class Figure:
    """What was measured of every side, once per round; the first side is ours."""

    unit: str
    sides: Mapping[str, Sequence[float]]
    targets: Sequence[Target] = ()

    @property
    def ours(self) -> str:
        """The side that the others are compared with."""
        return next(iter(self.sides))

    def comparison(self, side: str) -> Comparison:
        """Ours against ``side``."""
        return Comparison.of(self.sides[self.ours], self.sides[side])

    def target(self, side: str) -> Target | None:
        """What is asked of ours against ``side``; for ours itself, of its figure."""
        against = ITSELF if side == self.ours else side
        return next((target for target in self.targets if target.against == against), None)

    def met(self, side: str) -> bool | None:
        """Whether the target against ``side`` is met; None where nothing is asked."""
        target = self.target(side)
        if target is None:
            return None
        alone = side == self.ours
        return target.met(median(self.sides[side]) if alone else self.comparison(side).ratio)

    def as_json(self) -> dict[str, Any]:
        """Everything, as JSON has it."""
        return {"unit": self.unit, "sides": {side: self._side(side) for side in self.sides}}

    def _side(self, side: str) -> dict[str, Any]:
        figures, target = self.sides[side], self.target(side)
        told: dict[str, Any] = {
            "rounds": list(figures),
            "median": median(figures),
            "spread": spread(figures),
        }
        if side != self.ours:
            comparison = self.comparison(side)
            told["ours_divided_by_this"] = comparison.ratio
            told["per_round"] = list(comparison.per_round)
        if target is not None:
            told.update(target=str(target), met=self.met(side))
        return told


@dataclass(frozen=True)
class RowResult(Figure):
    """The figures of one row: that which its heading names, and others beside it."""

    notes: Sequence[str] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    also: Sequence[Figure] = ()

    def as_json(self) -> dict[str, Any]:
        """Everything, as JSON has it."""
        return {
            **super().as_json(),
            "also": [figure.as_json() for figure in self.also],
            "notes": list(self.notes),
            "details": dict(self.details),
        }
