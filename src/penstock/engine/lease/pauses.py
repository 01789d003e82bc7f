"""How long a lease waits for records while there are none."""

from __future__ import annotations

from collections.abc import Callable

LONGEST = 0.25
"""Seconds: the longest pause of a lease that has had no records for a while."""
POLLS_PER_SECOND = 400
"""How often all leases of a process together ask for records while there are none."""


class Pauses:
    """Pauses double while there are no records.

    The more leases share the process, the longer they may get: they share its interpreter, too.
    """

    def __init__(self, shortest: float, leases: Callable[[], int]) -> None:
        self._shortest = shortest
        self._leases = leases
        self._last = 0.0

    def after(self, *, dry: bool) -> float:
        """Seconds to wait after a poll that got records, or was ``dry``."""
        longest = max(self._shortest, min(LONGEST, self._leases() / POLLS_PER_SECOND))
        grown = min(longest, self._last * 2) if dry else 0.0
        self._last = max(self._shortest, grown)
        return self._last
