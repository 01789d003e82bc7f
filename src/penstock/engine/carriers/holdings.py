"""The leases of one carrier process, and the reports its worker has not received yet.

The carrier's counterpart of ``Book``. A process starts an id only once, whatever it receives; a
lease whose id is no longer wanted ends uncommitted.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, Protocol

from penstock.engine.carriers.frames import Message


class Held(Protocol):
    """A lease that runs in this process."""

    def progress(self, number: int) -> dict[str, Any]:
        """Its progress, for the message of that number; may be empty."""
        ...

    def heard(self, number: int) -> None:
        """The worker has received the messages up to that number."""
        ...

    def tell_again(self) -> None:
        """The connection is new: unanswered messages may have been lost."""
        ...

    def finish(self) -> None:
        """Commit what it has and end."""
        ...

    def orphan(self) -> None:
        """End uncommitted: the lease was revoked."""
        ...


class Holdings:
    """Thread-safe. ``start`` begins a lease without blocking; a lease ends with ``report``."""

    def __init__(
        self, start: Callable[[str, dict[str, Any]], Held], tell: Callable[[], None]
    ) -> None:
        self._start = start
        self._tell = tell
        self._changed = threading.Condition()
        self._held: dict[str, Held] = {}
        self._started: set[str] = set()
        self._reports: dict[str, Any] = {}
        self._number = 0
        self._heard = 0
        self._answered = 0
        """The number of our last state that the worker has received."""
        self._wanted: set[str] = set()
        self._asking: set[str] = set()
        self._confirmed: set[str] = set()
        self._asked_at: float | None = None
        self.ending = False

    def __len__(self) -> int:
        return len(self._held)

    @property
    def clean(self) -> bool:
        """Whether nothing runs and everything was reported."""
        return not self._held and not self._reports

    def state(self) -> Message:
        """The next state to send to the worker."""
        with self._changed:
            self._number += 1
            if self._asked_at is None:
                self._asked_at = time.monotonic()
            return {
                "number": self._number,
                "heard": self._heard,
                "held": {lease: held.progress(self._number) for lease, held in self._held.items()},
                "reports": dict(self._reports),
                "asking": list(self._asking),
            }

    def unanswered(self) -> float:
        """Seconds since the oldest state was sent that the worker has not answered."""
        with self._changed:
            return 0.0 if self._asked_at is None else time.monotonic() - self._asked_at

    def asking(self) -> None:
        """Connecting to the worker: the time for an answer starts now, unless it already has."""
        with self._changed:
            self._asked_at = self._asked_at or time.monotonic()
            for held in self._held.values():
                held.tell_again()

    def hear(self, state: Message) -> None:
        """Process a state from the worker: start, finish and end leases accordingly."""
        with self._changed:
            self._wanted, self._confirmed = set(state["wanted"]), set(state["confirmed"])
            for lease in state["received"]:
                self._reports.pop(lease, None)
            self._begin(state["orders"])
            for lease, held in self._held.items():
                if lease not in self._wanted:
                    held.orphan()
            for lease in state["finish"]:
                if lease in self._held:
                    self._held[lease].finish()
            self._heard, self._answered = int(state["number"]), int(state["heard"])
            for held in self._held.values():
                held.heard(self._answered)
            self.ending = bool(state["end"])
            self._asked_at = None
            self._changed.notify_all()

    def _begin(self, orders: dict[str, Any]) -> None:
        for lease, order in orders.items():
            if lease not in self._started:
                self._started.add(lease)
                self._held[lease] = self._start(lease, order)

    def report(self, lease: str, report: Any) -> None:
        """A lease has ended: keep its report until the worker has it."""
        with self._changed:
            self._held.pop(lease, None)
            self._reports[lease] = report
            self._changed.notify_all()
        self._tell()

    def confirm(self, lease: str, patience: float) -> bool:
        """Ask the worker whether it still wants this lease, and wait for the answer (rule 10).

        False without an answer: the lease must then end without having touched anything.
        """
        with self._changed:
            self._asking.add(lease)
        self._tell()
        with self._changed:
            self._changed.wait_for(lambda: self._is_answered(lease), patience)
            self._asking.discard(lease)
            return lease in self._wanted and lease in self._confirmed

    def _is_answered(self, lease: str) -> bool:
        return lease in self._confirmed or lease not in self._wanted

    def orphan_all(self) -> None:
        """The worker is gone: every lease ends uncommitted."""
        with self._changed:
            for held in self._held.values():
                held.orphan()

    def wait_until_idle(self, patience: float) -> bool:
        """Whether all leases have ended within ``patience`` seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._held, patience)
