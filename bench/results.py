"""What a row has found: figures of each side, and whether its targets are met."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.rounds import Comparison, median, spread

OURS = "penstock"
CONNECT = "kafka connect"


@dataclass(frozen=True)
class Target:
    """A bound on ours divided by theirs."""

    against: str
    at_least: float | None = None
    at_most: float | None = None

    def met(self, ratio: float) -> bool:
        """Whether the ratio is within the bound."""
        above = self.at_least is None or ratio >= self.at_least
        return above and (self.at_most is None or ratio <= self.at_most)

    def __str__(self) -> str:
        bounds = [("at least", self.at_least), ("at most", self.at_most)]
        return " and ".join(f"{word} {bound:g}x" for word, bound in bounds if bound is not None)


@dataclass(frozen=True)
class RowResult:
    """The figures of one row. ``sides`` has one figure per round; the first side is ours."""

    unit: str
    sides: Mapping[str, Sequence[float]]
    targets: Sequence[Target] = ()
    notes: Sequence[str] = ()
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ours(self) -> str:
        """The side that the others are compared with."""
        return next(iter(self.sides))

    def comparison(self, side: str) -> Comparison:
        """Ours against ``side``."""
        return Comparison.of(self.sides[self.ours], self.sides[side])

    def target(self, side: str) -> Target | None:
        """What is asked of ours against ``side``."""
        return next((target for target in self.targets if target.against == side), None)

    def met(self, side: str) -> bool | None:
        """Whether the target against ``side`` is met; None where nothing is asked."""
        target = self.target(side)
        return None if target is None else target.met(self.comparison(side).ratio)

    def as_json(self) -> dict[str, Any]:
        """Everything, as JSON has it."""
        return {
            "unit": self.unit,
            "sides": {side: self._side(side) for side in self.sides},
            "notes": list(self.notes),
            "details": dict(self.details),
        }

    def _side(self, side: str) -> dict[str, Any]:
        figures = self.sides[side]
        told = {"rounds": list(figures), "median": median(figures), "spread": spread(figures)}
        if side == self.ours:
            return told
        comparison = self.comparison(side)
        target = self.target(side)
        return {
            **told,
            "ours_divided_by_this": comparison.ratio,
            "per_round": list(comparison.per_round),
            "target": None if target is None else str(target),
            "met": self.met(side),
        }
