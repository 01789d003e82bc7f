"""Ours and theirs in turns, and what a few figures of each say."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

Say = Callable[[str], None]


def interleaved(
    rounds: int, sides: Mapping[str, Callable[[], float]], say: Say
) -> dict[str, list[float]]:
    """Measure every side once per round, in an order that alternates; the figures of each side.

    What changes slowly on a machine (heat, other people's work) then meets all sides alike, and
    none always comes right after the same other.
    """
    figures: dict[str, list[float]] = {side: [] for side in sides}
    for number in range(rounds):
        for side in order(list(sides), number):
            figures[side].append(sides[side]())
            say(f"round {number + 1} of {rounds}, {side}: {figures[side][-1]:,.4g}")
    return figures


def order(sides: Sequence[str], number: int) -> list[str]:
    """The order of round ``number``: forward in even rounds, backward in odd ones."""
    return list(sides) if number % 2 == 0 else list(reversed(sides))


def median(figures: Sequence[float]) -> float:
    """The middle figure."""
    return statistics.median(figures)


def spread(figures: Sequence[float]) -> float:
    """How far the figures lie apart, as a part of their median; 0 where the median is 0."""
    middle = median(figures)
    return (max(figures) - min(figures)) / middle if middle else 0.0


def percentile(samples: Sequence[float], part: float) -> float:
    """The sample below which ``part`` (0 to 1) of the samples lie, interpolated."""
    ordered = sorted(samples)
    at = part * (len(ordered) - 1)
    below = int(at)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (at - below)


@dataclass(frozen=True)
class Comparison:
    """Ours divided by theirs: of the medians, and round by round."""

    ratio: float
    per_round: tuple[float, ...]

    @staticmethod
    def of(ours: Sequence[float], theirs: Sequence[float]) -> Comparison:
        """Compare figures of the same rounds."""
        pairs = zip(ours, theirs, strict=True)
        return Comparison(
            _ratio(median(ours), median(theirs)), tuple(_ratio(a, b) for a, b in pairs)
        )


def _ratio(ours: float, theirs: float) -> float:
    return ours / theirs if theirs else float("inf")
