"""Kafka Connect refuses while its group rebalances, and wants to be asked again: so it is."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, cast

from penstock.sdk.errors import PenstockError
from penstock.sql.connecting.connect_api import Connect, status_of

CONFLICT = 409
MOST_SECONDS, PAUSE_SECONDS = 20.0, 0.2


def patient(connect: Connect) -> Connect:
    """The same, with the patience that a rebalance takes; any other refusal is raised at once."""
    return cast("Connect", _Patient(connect))


class _Patient:
    def __init__(self, inner: Connect) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method: Callable[..., Any] = getattr(self._inner, name)

        def ask(*arguments: Any, **named: Any) -> Any:
            until = time.monotonic() + MOST_SECONDS
            while True:
                try:
                    return method(*arguments, **named)
                except PenstockError as error:
                    # It has done nothing of what it was asked.
                    if not _rebalances(error) or time.monotonic() > until:
                        raise
                time.sleep(PAUSE_SECONDS)

        return ask


def _rebalances(error: PenstockError) -> bool:
    return status_of(error) == CONFLICT and "rebalanc" in str(error).lower()
