"""How requests reach the herder, whose methods block, from an event loop that must not.

Kafka Connect's API has calls that take seconds (stop, create, altering offsets) and calls that
only look (listing, status). Each kind has threads of its own, and so has health: however many
slow calls wait, a look at the worker never queues behind them. A call that exceeds its time is
answered with 500 and left to end by itself; it may still take effect, as in Kafka Connect.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, TypeVar

import anyio
from anyio import CapacityLimiter, to_thread
from fastapi import Depends, Request

from penstock.rest.herder_api import HerderApi
from penstock.runtime.errors import InternalError, Unavailable
from penstock.sdk.errors import PenstockError

log = logging.getLogger(__name__)

SLOW_CALLS = 64
QUICK_CALLS = 16
HEALTH_CALLS = 4
REQUEST_SECONDS = 90.0
LOOK_SECONDS = 10.0
TIMED_OUT = (
    "Request timed out. The worker is currently carrying out this request, which began at {began}."
)
STARTING = "The worker is starting: "

T = TypeVar("T")


class Calls:
    """The herder and the threads in which to call it. One per application."""

    def __init__(self, herder: HerderApi) -> None:
        self.herder = herder
        self._started: HerderApi | None = None
        self._slow = CapacityLimiter(SLOW_CALLS)
        self._quick = CapacityLimiter(QUICK_CALLS)
        self._health = CapacityLimiter(HEALTH_CALLS)

    async def run(self, function: Callable[..., T], *args: object) -> T:
        """Call something that may take seconds."""
        return await _in_thread(function, args, self._slow, REQUEST_SECONDS)

    async def look(self, function: Callable[..., T], *args: object) -> T:
        """Call something that only reads what the worker has in memory."""
        return await _in_thread(function, args, self._quick, LOOK_SECONDS)

    async def health(self) -> tuple[str, str]:
        """The herder's word and sentence about itself."""
        return await _in_thread(self.herder.health, (), self._health, LOOK_SECONDS)

    async def refuse_while_starting(self) -> None:
        """Unavailable until the worker has started once; from then on this costs nothing."""
        if self._started is self.herder:
            return
        status, message = await self.health()
        if status == "starting":
            raise Unavailable(STARTING + message.removeprefix(STARTING))
        self._started = self.herder


async def _in_thread(
    function: Callable[..., T], args: tuple[object, ...], limiter: CapacityLimiter, seconds: float
) -> T:
    began = datetime.now(UTC)
    try:
        with anyio.move_on_after(seconds):
            return await to_thread.run_sync(
                function, *args, abandon_on_cancel=True, limiter=limiter
            )
    except PenstockError:
        raise
    except Exception as error:
        log.exception("%s failed", getattr(function, "__name__", function))
        raise InternalError(unexpected(error)) from error
    raise InternalError(TIMED_OUT.format(began=began.isoformat().replace("+00:00", "Z")))


def unexpected(error: Exception) -> str:
    """One short line about a defect: the traceback is in the log, and only there."""
    lines = str(error).splitlines() or [""]
    return f"Unexpected {type(error).__name__}: {lines[0][:200]} (more is in the worker's log)"


async def _calls(request: Request) -> Calls:
    calls: Calls = request.app.state.calls
    return calls


HerderCalls = Annotated[Calls, Depends(_calls)]


async def refuse_while_starting(calls: HerderCalls) -> None:
    """Answer 503 until the worker has read its stores: before, it would answer wrongly."""
    await calls.refuse_while_starting()
