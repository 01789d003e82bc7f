"""How much of everything a run measures."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """Sizes of a run; `of` makes all of them smaller, to try the harness and not to compare."""

    factor: float = 1.0
    rounds: int = 3
    lines: int = 2_000_000
    object_lines: int = 6_400_000
    """About a gigabyte."""
    active_samples: int = 30
    idle_samples: int = 8
    idle_connectors: int = 200
    growth: tuple[int, ...] = (50, 200, 1000)
    listing: tuple[int, ...] = (1_000, 10_000, 100_000)
    minute: float = 60.0
    stopped: tuple[int, ...] = (100, 300, 1000)
    listings: int = 200

    @staticmethod
    def of(factor: float, rounds: int) -> Scale:
        """The usual sizes times ``factor``."""
        usual = Scale()
        return Scale(
            factor=factor,
            rounds=rounds,
            lines=max(1000, int(usual.lines * factor)),
            object_lines=max(2000, int(usual.object_lines * factor)),
            active_samples=max(5, int(usual.active_samples * factor)),
            idle_samples=max(2, int(usual.idle_samples * factor)),
            idle_connectors=max(4, int(usual.idle_connectors * factor)),
            growth=tuple(max(2, int(size * factor)) for size in usual.growth),
            listing=tuple(max(10, int(size * factor)) for size in usual.listing),
            minute=max(5.0, usual.minute * factor),
            stopped=tuple(max(2, int(size * factor)) for size in usual.stopped),
            listings=max(10, int(usual.listings * factor)),
        )

    def some(self, usual: int) -> int:
        """Fewer of something, if this is just a try."""
        return max(4, int(usual * self.factor))

    @property
    def warm_up_lines(self) -> int:
        """Lines that each side moves before anything is timed."""
        return max(1000, self.lines // 8)
