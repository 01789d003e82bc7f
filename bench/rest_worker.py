"""A worker of either kind as a child process: both speak the same REST API."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from penstock.client import ConnectClient, ConnectError
from penstock.client.errors import ConnectApiError, WorkerUnreachable
from penstock.client.waiting import wait_until
from penstock.embedded.process import WatchedProcess

START_SECONDS = 120.0
STOP_SECONDS = 60.0
REQUEST_SECONDS = 120.0
NOT_FOUND, CONFLICT = 404, 409
QUOTED_CHARACTERS = 2000


class RestWorker:
    """A started worker. It ends with this process, however that ends.

    Making it returns once it is healthy, which took ``start_seconds``; ConnectError with the end
    of its log where it ends instead. Use it in a with statement.
    """

    def __init__(self, label: str, command: Sequence[str], port: int, log: Path) -> None:
        self.label = label
        self.log = log
        self.client = ConnectClient(f"http://127.0.0.1:{port}")
        began = time.perf_counter()
        self._process = WatchedProcess(command, log)
        try:
            wait_until(self._healthy, f"a healthy {label}", START_SECONDS, interval=0.02)
        except BaseException:
            self.stop()
            raise
        self.start_seconds = time.perf_counter() - began

    @property
    def pid(self) -> int:
        """The process whose tree is the worker; the broker is not in it."""
        return self._process.pid

    def __enter__(self) -> RestWorker:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End it. Safe to call again."""
        self.client.close()
        self._process.stop(STOP_SECONDS)

    def create(
        self, name: str, config: Mapping[str, str], initial_state: str | None = None
    ) -> float:
        """Create a connector; the moment (of perf_counter) at which the request was answered."""
        return self._asked(
            lambda: self.client.create(name, config, initial_state), f"to create {name}"
        )

    def delete(self, name: str) -> None:
        """Remove a connector, if there is one."""
        try:
            self._asked(lambda: self.client.delete(name), f"to delete {name}")
        except ConnectApiError as error:
            if error.status != NOT_FOUND:
                raise

    def _asked(self, request: Callable[[], object], what: str) -> float:
        def answered() -> float | None:
            try:
                request()
            except ConnectApiError as error:
                # Kafka Connect refuses while its group rebalances, and wants to be asked again.
                if error.status != CONFLICT or "rebalanc" not in error.message.lower():
                    raise
                return None
            return time.perf_counter()

        return wait_until(answered, f"{self.label} {what}", REQUEST_SECONDS, interval=0.05)

    def _healthy(self) -> bool:
        if not self._process.alive():
            raise ConnectError(f"{self.label} ended while starting. Its log says:\n{self._quote()}")
        try:
            return bool(self.client.health().get("status") == "healthy")
        except (ConnectApiError, WorkerUnreachable):
            return False

    def _quote(self) -> str:
        return self.log.read_text(errors="replace")[-QUOTED_CHARACTERS:]
