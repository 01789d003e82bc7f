"""How much a frame turn reads, and how long the connector then pauses: no clocks, no Spark.

A turn has a fixed cost, whatever it moves. So turns grow while there is more to read than they
take, up to some seconds, and shrink only when they take far longer: on a busy machine the fixed
cost alone takes seconds, and smaller turns would move less and less. A connector whose records
trickle in waits a while for more of them, longer if its turns are costly.
"""

from __future__ import annotations

from dataclasses import dataclass

FIRST, FEWEST, MOST = 20_000, 5_000, 2_000_000
"""Offsets of a turn."""
SHORT, LONG = 3.0, 10.0
"""Seconds: turns that take less grow, and those that take more shrink."""
SMALL = 5_000
"""Offsets that may pass through the worker, if their records are small."""
IDLE_SHARE = 2.0
"""Seconds of pause for each second of a turn that has left nothing to read."""
LONGEST_PAUSE = 3.0


@dataclass
class TurnPace:
    """What is known from a connector's earlier turns."""

    most: int = FIRST
    small: int = SMALL
    pause: float = 0.0
    """Seconds to wait after the last turn."""

    def done(self, offsets: int, seconds: float, *, left: bool) -> None:
        """A turn has taken these offsets; ``left``: there were more of them already."""
        self.pause = 0.0 if left else min(LONGEST_PAUSE, IDLE_SHARE * seconds)
        if seconds > LONG:
            self.most = max(FEWEST, min(self.most, int(offsets * LONG / seconds)))
        elif seconds < SHORT and left:
            self.most = min(MOST, self.most * 2)

    def through_worker(self, offsets: int, *, fitted: bool) -> None:
        """A turn was to pass through the worker; ``fitted``: its records were small enough."""
        self.small = min(SMALL, self.small * 2) if fitted else max(1, offsets // 2)

    def lost(self) -> None:
        """A turn was lost, perhaps for its size."""
        self.most = max(FEWEST, self.most // 2)
