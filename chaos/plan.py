"""Which faults strike when: all of it follows from the seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from chaos.load import SINKS, SOURCES

SHORT, LONG = (1.0, 5.0), (12.0, 17.0)
"""Seconds: well within, and beyond, the 10 s after which a silent worker has left its group."""
DELAY = (0.5, 4.0)
TWO_AT_ONCE = 0.5
WHICH = (1, 12)
"""Of how many Python workers there happen to be, one is taken."""
BOTH = ("worker-0", "worker-1")
ALTERABLE = tuple(each.name for each in SOURCES if each.partitions == 1)
SOURCE_NAMES = tuple(each.name for each in SOURCES)
SINK_NAMES = tuple(each.name for each in SINKS)


@dataclass(frozen=True)
class Fault:
    """What happens to whom, how long after the beginning of the round, and for how long.

    The amount is what the kind makes of it: lines to go back, bytes a second, which one of many.
    """

    kind: str
    target: str
    delay: float
    seconds: float = 0.0
    amount: int = 0

    def __str__(self) -> str:
        lasting = f" {self.seconds:.1f} s" if self.seconds else ""
        much = f" ({self.amount})" if self.amount else ""
        return f"{self.kind} {self.target}{lasting}{much}"


@dataclass(frozen=True)
class Kind:
    """A kind of fault: whom it may strike, for how long, how much."""

    name: str
    targets: tuple[str, ...]
    seconds: tuple[float, float] | None = None
    amount: tuple[int, int] | None = None

    def draw(self, dice: random.Random) -> Fault:
        """One such fault."""
        return Fault(
            self.name,
            dice.choice(self.targets),
            round(dice.uniform(*DELAY), 1),
            round(dice.uniform(*self.seconds), 1) if self.seconds else 0.0,
            dice.randint(*self.amount) if self.amount else 0,
        )


def _both_lengths(
    name: str, targets: tuple[str, ...], amount: tuple[int, int] | None = None
) -> tuple[Kind, Kind]:
    return Kind(name, targets, SHORT, amount), Kind(name, targets, LONG, amount)


KINDS = (
    *_both_lengths("worker-kill", BOTH),
    *_both_lengths("worker-freeze", BOTH),
    *_both_lengths("worker-term", BOTH),
    Kind("python-kill", BOTH, amount=WHICH),
    *_both_lengths("python-freeze", BOTH, WHICH),
    Kind("jvm-kill", BOTH),
    *_both_lengths("jvm-freeze", BOTH),
    *_both_lengths("broker-kill", ("broker",)),
    *_both_lengths("broker-freeze", ("broker",)),
    Kind("link-cut", BOTH),
    *_both_lengths("link-down", BOTH),
    *_both_lengths("link-stall", BOTH),
    Kind("quota", ("broker",), SHORT, (4_000, 20_000)),
    Kind("pause", SOURCE_NAMES + SINK_NAMES, SHORT),
    Kind("stop", SOURCE_NAMES + SINK_NAMES, SHORT),
    Kind("restart", SOURCE_NAMES + SINK_NAMES),
    Kind("config", SOURCE_NAMES + SINK_NAMES, amount=(1, 999)),
    Kind("alter-source", ALTERABLE, amount=(1, 500)),
    Kind("alter-sink", SINK_NAMES, amount=(1, 500)),
)
KIND_NAMES = tuple(dict.fromkeys(kind.name for kind in KINDS))


def rounds_of(seed: int, kinds: Sequence[str] = KIND_NAMES) -> Iterator[list[Fault]]:
    """The faults of one round after another, one or two in each.

    They are dealt from a shuffled pack, so that every kind has its turn before any comes again.
    Two at once strike different targets: what is dead already cannot be killed.
    """
    dice = random.Random(seed)  # noqa: S311 - the same every time is the point
    pack = _pack(dice, [kind for kind in KINDS if kind.name in kinds])
    while True:
        first = next(pack)(dice)
        second = next(pack)(dice) if dice.random() < TWO_AT_ONCE else None
        while second is not None and second.target == first.target:
            second = next(pack)(dice)
        yield [first] if second is None else [first, second]


def _pack(dice: random.Random, kinds: Sequence[Kind]) -> Iterator[Callable[[random.Random], Fault]]:
    while True:
        for kind in dice.sample(kinds, len(kinds)):
            yield kind.draw
