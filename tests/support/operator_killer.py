"""Kills an operator at a request that changes something, of a worker or of Kubernetes."""

from __future__ import annotations

import threading

from operator_process import OperatorProcess
from rest_between import RestBetween


class OperatorKiller:
    """Call order: `arm`, then `revive` again and again, `disarm`."""

    def __init__(self, operator: OperatorProcess, *betweens: RestBetween) -> None:
        self._operator = operator
        self._lock = threading.Lock()
        self._when, self._number = "", 0
        self._killed = threading.Event()
        self.killed_at = ""
        for between in betweens:
            between.lose = self._lose

    def arm(self, when: str, number: int) -> None:
        """Kill ``before`` or ``after`` the ``number``-th change from now on."""
        with self._lock:
            self._when, self._number, self.killed_at = when, number, ""

    def revive(self) -> None:
        """Start the operator again, if it was killed."""
        if self._killed.is_set():
            self._killed.clear()
            self._operator.start()

    def disarm(self) -> bool:
        """Whether it was killed since `arm`."""
        with self._lock:
            self._number = 0
        self.revive()
        return bool(self.killed_at)

    def _lose(self, when: str, method: str, path: str) -> bool:
        with self._lock:
            if when != self._when or self._number == 0:
                return False
            self._number -= 1
            if self._number > 0:
                return False
            self.killed_at = f"{when} {method} {path}"
            self._operator.kill()
            self._killed.set()
            return True
