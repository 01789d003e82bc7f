"""The REST API of a cluster whose workers come and go: any that answers will do."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from chaos.worker import Worker
from penstock.client import ConnectClient, ConnectError

T = TypeVar("T")
PATIENCE_SECONDS = 60.0
PAUSE_SECONDS = 0.5


class NoAnswer(Exception):  # noqa: N818 - named for what has happened
    """No worker did what it was asked, for a minute; the text holds the last refusal."""


class Cluster:
    """Asks the workers in turn until one of them answers well. Thread-safe."""

    def __init__(self, workers: Sequence[Worker]) -> None:
        self._workers = workers

    def ask(self, what: str, request: Callable[[ConnectClient], T]) -> T:
        """The answer; what is asked may happen more than once. NoAnswer after a minute."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        refusal: ConnectError | None = None
        while time.monotonic() < deadline:
            for worker in self._workers:
                try:
                    return request(worker.client)
                except ConnectError as error:
                    refusal = error
            time.sleep(PAUSE_SECONDS)
        raise NoAnswer(f"{what}: in vain for {PATIENCE_SECONDS:.0f} s: {refusal}")

    def until(self, what: str, condition: Callable[[ConnectClient], T | None]) -> T:
        """The first true answer of ``condition``. NoAnswer after a minute without one."""

        def holds(client: ConnectClient) -> T:
            if found := condition(client):
                return found
            raise ConnectError("not yet")

        return self.ask(what, holds)

    def stop(self, name: str) -> None:
        """Stop a connector and wait until it has no task."""
        self.ask(f"to stop {name}", lambda client: client.stop(name))
        self.until(f"{name} STOPPED", lambda client: _stopped(client.status(name)))

    def resume(self, name: str) -> None:
        """Let a connector run again."""
        self.ask(f"to resume {name}", lambda client: client.resume(name))

    def offsets(self, name: str) -> list[dict[str, Any]]:
        """The offsets of a connector."""
        return self.ask(f"offsets of {name}", lambda client: client.offsets(name))

    def alter(self, name: str, entry: dict[str, Any]) -> None:
        """Set one offset of a stopped connector, and wait until it is told back."""
        self.ask(f"to alter {name}", lambda client: client.alter_offsets(name, [entry]))
        self.until(f"the new offset of {name}", lambda client: entry in client.offsets(name))


def _stopped(status: dict[str, Any]) -> bool:
    return bool(status["connector"]["state"] == "STOPPED" and not status["tasks"])
