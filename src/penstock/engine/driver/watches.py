"""The worker's end of the heartbeat: one server, and a watch per lease and per turn.

The server listens where executors can reach the driver; a beat without the token is dropped.
Lines that a lease has logged come the same way, and changed log levels go back with an answer.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import secrets
import socket
import socketserver
import threading
import time
from collections.abc import Callable
from typing import Any

from penstock.engine.lease.lease import HeartbeatAddress, Limits
from penstock.engine.lease.lease_logs import tell
from penstock.logs.levels import in_use

BUSY_QUANTUM = 3.0
"""Seconds a busy lease may run on while others wait for its slot."""
LONGEST_WAIT = 600.0
"""Seconds a job may wait for a place to run."""
MESSAGE_BYTES = 1024 * 1024
"""Longer than any message of a lease, whose texts are cut to a few thousand characters."""


class TurnWatch:
    """All leases of one job. They end together, so the turn decides when."""

    def __init__(self, limits: Limits) -> None:
        self.crowded = False
        self.on_beat: Callable[[str, dict[str, Any]], None] = lambda _lease_id, _body: None
        self._began: float | None = None
        self._first_beat: float | None = None
        self._waited: float | None = None
        self.limits = limits
        self._finish = threading.Event()
        self._lock = threading.Lock()
        self._beats: dict[str, dict[str, Any]] = {}
        self._sockets: dict[str, socket.socket] = {}

    def begin(self) -> None:
        """The job is submitted now; Spark's own start does not count."""
        self._began = time.monotonic()

    @property
    def begun(self) -> bool:
        """Whether the job has been submitted."""
        return self._began is not None

    @property
    def age(self) -> float:
        """Seconds since the job was submitted; 0 before."""
        return 0.0 if self._began is None else time.monotonic() - self._began

    def overdue(self, grace_seconds: float) -> bool:
        """Whether its leases should have ended long ago.

        Before the first heartbeat the job waits for a slot, which takes as long as a cluster needs
        to start executors: nothing hangs. Nor does a lease that waits for slow brokers: it
        gives up by itself when waiting is no use.
        """
        if self._first_beat is None:
            return self.age > LONGEST_WAIT
        due = self._first_beat + self.limits.lease_seconds
        return time.monotonic() - max(due, self._waited or due) > grace_seconds

    def expect(self, lease_id: str) -> None:
        """Add ``lease_id`` to this turn."""
        self._beats[lease_id] = {}

    @property
    def finishing(self) -> bool:
        """Whether the leases have been told to finish."""
        return self._finish.is_set()

    def finish(self) -> None:
        """Tell every lease to commit what it has and end."""
        self._finish.set()
        with self._lock:
            for connection in self._sockets.values():
                with contextlib.suppress(OSError):
                    connection.sendall(b"finish\n")

    def beat(self, lease_id: str, connection: socket.socket, body: dict[str, Any]) -> bytes:
        """Process a heartbeat; returns the answer to it."""
        with self._lock:
            self._first_beat = self._first_beat or time.monotonic()
            if body.get("waits", 0) != self._beats.get(lease_id, {}).get("waits", 0):
                self._waited = time.monotonic()
            self._beats[lease_id] = body
            self._sockets[lease_id] = connection
        self.on_beat(lease_id, body)
        return b"finish\n" if self._should_finish() else b"go on\n"

    def _should_finish(self) -> bool:
        age = self.age
        return (
            self._finish.is_set()
            or age > self.limits.lease_seconds
            or (self.crowded and age > BUSY_QUANTUM)
            or self._all_dry()
            or self._one_ended_early()
        )

    def _all_dry(self) -> bool:
        patience = 0.0 if self.crowded else self.limits.dry_seconds
        beats = self._beats.values()
        return all((b.get("dry") or -1.0) >= patience for b in beats)

    def _one_ended_early(self) -> bool:
        """A lost or failed task is reported with its whole job, so its siblings must end too."""
        return any(b.get("ended_early") for b in list(self._beats.values()))

    def totals(self) -> tuple[int, int]:
        """Records and bytes moved so far by the leases of this turn."""
        beats = list(self._beats.values())
        return sum(b.get("records", 0) for b in beats), sum(b.get("bytes", 0) for b in beats)

    def stuck(self, lease_id: str) -> str:
        """Where the lease hangs, as far as it has reported."""
        return str(self._beats.get(lease_id, {}).get("stuck", ""))


class HeartbeatServer:
    """Listens for the heartbeats of all leases of this worker. Thread-safe."""

    def __init__(self, host: str = "127.0.0.1", advertised: str | None = None) -> None:
        self._token = secrets.token_hex(16)
        self._watches: dict[str, TurnWatch] = {}
        self._server = _Server((host, 0), _Handler, self)
        self._advertised = advertised or host
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.2,), name="heartbeats", daemon=True
        )
        self._thread.start()

    @property
    def address(self) -> HeartbeatAddress:
        """What a lease needs to report here."""
        return HeartbeatAddress(self._advertised, self._server.server_address[1], self._token)

    def watch(self, lease_id: str, turn: TurnWatch) -> None:
        """Route the beats of ``lease_id`` to ``turn``."""
        turn.expect(lease_id)
        self._watches[lease_id] = turn

    def forget(self, lease_id: str) -> None:
        """The lease is over."""
        self._watches.pop(lease_id, None)

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()

    def answer(self, connection: socket.socket, line: bytes) -> bytes | None:
        """The answer to one line, or None when it does not come from one of our leases."""
        try:
            body = json.loads(line)
        except (ValueError, RecursionError):
            return None
        if not isinstance(body, dict) or not self._ours(body.get("token")):
            return None
        if "log" in body:
            tell(body["log"])
            return b""
        turn = self._watches.get(str(body.get("lease")))
        answer = b"finish\n" if turn is None else turn.beat(body["lease"], connection, body)
        return answer + _newer_levels(body.get("levels"))

    def _ours(self, token: object) -> bool:
        # Bytes: of texts, only ASCII ones can be compared.
        given = str(token).encode(errors="surrogatepass")
        return hmac.compare_digest(given, self._token.encode())


def _newer_levels(known: Any) -> bytes:
    """For a lease with older log levels: the current ones, as a line of their own."""
    levels = in_use()
    if known is None or known == levels.version:
        return b""
    return json.dumps(levels.to_json()).encode() + b"\n"


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], handler: type, owner: HeartbeatServer) -> None:
        self.owner = owner
        super().__init__(address, handler)


class _Handler(socketserver.StreamRequestHandler):
    server: _Server

    def handle(self) -> None:
        with contextlib.suppress(OSError):
            for line in iter(lambda: self.rfile.readline(MESSAGE_BYTES), b""):
                reply = self.server.owner.answer(self.connection, line)
                if reply is None:
                    return
                self.connection.sendall(reply)
