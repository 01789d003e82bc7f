"""Notices that a client gives nothing at all, so that it is told to fetch again.

A client says when it has come to the end of a partition. After a broker did not answer for a while
one may stop fetching without a word, and would go on waiting beside new records for ever.
"""

from __future__ import annotations

import time

SILENCE_SECONDS = 30.0


class Silence:
    """For how long a client has given neither a record nor the end of a partition."""

    def __init__(self) -> None:
        self._since = time.monotonic()

    def end(self) -> None:
        """Something came."""
        self._since = time.monotonic()

    def too_long(self) -> bool:
        """Whether it is time to fetch again; counts from the start again if so."""
        if time.monotonic() - self._since < SILENCE_SECONDS:
            return False
        self.end()
        return True
