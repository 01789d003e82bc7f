"""Calls into connectors: other people's code, which may never return.

At most one call into a connector is outstanding, so one that hangs costs only one thread. Frequent
calls are made on the caller's own thread and watched from another (``begin``, ``end``,
``give_up_overdue``); rare ones are made on a separate thread, which is abandoned when it takes too
long (``call``). A thread cannot be killed: while an abandoned call has not returned, further calls
into the same connector are rejected.
"""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeVar

from penstock.sdk.errors import FatalError

CALLBACK_SECONDS = 60.0
STOP_SECONDS = 5.0

T = TypeVar("T")


class CallbackHangs(FatalError):
    """A call into a connector did not return in time, or an earlier one has not returned yet."""

    def __init__(self, what: str, began: float) -> None:
        seconds = time.monotonic() - began
        super().__init__(f"{what}: callback does not return (it began {seconds:.0f} s ago)")
        self.may_return = seconds < CALLBACK_SECONDS
        """Whether it is only slow so far."""


def contained(function: Callable[..., T], *args: Any) -> T:
    """Call; what would end the calling thread or process, such as SystemExit, becomes an error.

    So it is treated like any other error of that call, and affects nothing else.
    """
    try:
        return function(*args)
    except Exception:
        raise
    except BaseException as error:
        raise RuntimeError(f"it raised {type(error).__name__}: {error}") from error


@dataclass
class _Call:
    what: str
    give_up: Callable[[CallbackHangs], None] | None = None
    began: float = field(default_factory=time.monotonic)

    def hangs(self) -> CallbackHangs:
        return CallbackHangs(self.what, self.began)


class Callbacks:
    """The calls into connectors that are in progress. Thread-safe."""

    def __init__(self) -> None:
        self._calls: dict[str, _Call] = {}

    def begin(
        self, name: str, what: str, give_up: Callable[[CallbackHangs], None] | None = None
    ) -> None:
        """A call into connector ``name`` begins; ``give_up`` is called once if it is overdue.

        CallbackHangs if an earlier one is still in progress.
        """
        call = _Call(what, give_up)
        outstanding = self._calls.setdefault(name, call)
        if outstanding is not call:
            raise outstanding.hangs()

    def end(self, name: str) -> None:
        """The call has returned."""
        self._calls.pop(name, None)

    def give_up_overdue(self) -> None:
        """Report every watched call that is overdue, once each."""
        latest = time.monotonic() - CALLBACK_SECONDS
        for call in list(self._calls.values()):
            if call.began < latest and call.give_up is not None:
                give_up, call.give_up = call.give_up, None
                give_up(call.hangs())

    def call(
        self,
        name: str,
        what: str,
        function: Callable[..., T],
        *args: Any,
        seconds: float | None = None,
    ) -> T:
        """Make a call on a separate thread; CallbackHangs once it takes too long."""
        self.begin(name, what)
        return aside(what, function, *args, seconds=seconds, then=lambda: self.end(name))


def aside(
    what: str,
    function: Callable[..., T],
    *args: Any,
    seconds: float | None = None,
    then: Callable[[], None] = lambda: None,
) -> T:
    """Call on a thread that is abandoned if it takes too long; ``then`` always runs at its end."""
    outcome: Future[T] = Future()
    context = contextvars.copy_context()

    def run() -> None:
        # The waiting caller may make the next call immediately, so ``then`` runs first.
        try:
            result = context.run(contained, function, *args)
        except Exception as error:  # noqa: BLE001 (raised in the waiting caller)
            then()
            outcome.set_exception(error)
        else:
            then()
            outcome.set_result(result)

    began = time.monotonic()
    threading.Thread(target=run, name=f"callback-{what}", daemon=True).start()
    try:
        return outcome.result(CALLBACK_SECONDS if seconds is None else seconds)
    except TimeoutError:
        if outcome.done():  # the callback's own timeout, or the result came just in time
            return outcome.result()
        raise CallbackHangs(what, began) from None
