"""The lease's end of the heartbeat: once a second to the worker, which answers go on or finish.

It has its own thread, so a task that hangs is still reported, with the place where it hangs. When a
beat has gone unanswered for ``unanswered_seconds``, the lease is an orphan and must end by itself:
its worker is frozen, cut off or dead. Time in which no beat was sent says nothing about the worker:
the lease itself, or the whole machine, may have been suspended.

Each beat carries what the lease has logged since the last; changed log levels come back with it.
"""

from __future__ import annotations

import contextlib
import json
import select
import socket
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from penstock.engine.lease.lease import HeartbeatAddress, Limits
from penstock.engine.lease.lease_logs import LINES_PER_BEAT, WAITING_LINES, LeaseLog
from penstock.engine.lease.tally import Tally
from penstock.engine.lease.used_topics import UsedTopics

STUCK_SECONDS = 3.0
CLOSE_SECONDS = 2.0
"""How long the end of a lease waits until its last lines are sent."""


@dataclass
class Progress(Tally):
    """What a lease reports to its worker; written by the lease, read by the heartbeat's thread."""

    active: int = 0
    """Records in the transaction that is open."""
    waits: int = 0
    """How often waiting for brokers was found to be worthwhile: a sign of life."""
    dry_since: float | None = None
    last_step: float = 0.0
    ended_early: bool = False
    topics: UsedTopics = field(default_factory=UsedTopics)

    def step(self) -> None:
        """The task's own code has just returned."""
        self.last_step = time.monotonic()

    def wait(self) -> None:
        """The brokers are not done yet, but are making progress."""
        self.waits += 1
        self.step()

    def note(self, *, dry: bool) -> None:
        """The lease has asked for records, and got some or none."""
        self.step()
        if not dry:
            self.dry_since = None
        elif self.dry_since is None:
            self.dry_since = self.last_step


class Heartbeat:
    """Beats until closed; the lease checks ``finish`` and ``orphaned``."""

    def __init__(
        self,
        address: HeartbeatAddress,
        lease_id: str,
        limits: Limits,
        log: LeaseLog | None = None,
    ) -> None:
        self.progress = Progress(last_step=time.monotonic())
        self.finish = threading.Event()
        self.orphaned = threading.Event()
        self._log = log
        self._address = address
        self._lease_id = lease_id
        self._limits = limits
        self._closed = threading.Event()
        self._asked: float | None = None
        self._half_heard = b""
        self._main = threading.get_ident()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    @property
    def over(self) -> bool:
        """Whether the lease should end now, for either reason."""
        return self.finish.is_set() or self.orphaned.is_set()

    def start(self) -> None:
        """Start the heartbeat."""
        self._thread.start()

    def close(self) -> None:
        """Stop the heartbeat, after sending what was logged."""
        self._closed.set()
        self._thread.join(timeout=CLOSE_SECONDS)
        if self._log is not None:
            self._log.print_rest()

    def _run(self) -> None:
        while not self._closed.is_set() and not self.orphaned.is_set():
            with contextlib.suppress(OSError), self._connect() as connection:
                self._converse(connection)
            self._check_answers()
            self._closed.wait(0.2)
        # A lease that ended before its first beat may still have something to report.
        if self._log is not None and self._log.waiting and not self.orphaned.is_set():
            with contextlib.suppress(OSError), self._connect() as connection:
                self._send_log(connection, WAITING_LINES)

    def _connect(self) -> socket.socket:
        patience = self._limits.unanswered_seconds
        left = self._ask() + patience - time.monotonic()
        address = (self._address.host, self._address.port)
        connection = socket.create_connection(address, timeout=max(0.1, left))
        connection.settimeout(patience)
        return connection

    def _ask(self) -> float:
        """A beat is sent now; returns when the oldest unanswered one was sent."""
        if self._asked is None:
            self._asked = time.monotonic()
        return self._asked

    def _converse(self, connection: socket.socket) -> None:
        self._half_heard = b""
        self.progress.topics.tell_again()
        while not self._closed.is_set() and not self.orphaned.is_set():
            self._ask()
            connection.sendall(self._message())
            self._send_log(connection, LINES_PER_BEAT)
            due = time.monotonic() + self._limits.heartbeat_seconds
            while not self._closed.is_set() and (left := due - time.monotonic()) > 0:
                if self.progress.topics.urgent:
                    break
                if select.select([connection], [], [], min(left, 0.1))[0]:
                    self._hear(connection.recv(4096))
                self._check_answers()
        if self.progress.ended_early:
            connection.sendall(self._message())
        self._send_log(connection, WAITING_LINES)

    def _send_log(self, connection: socket.socket, most: int) -> None:
        for line in self._log.take(most) if self._log is not None else ():
            body = {"token": self._address.token, "log": line}
            connection.sendall(json.dumps(body).encode() + b"\n")

    def _hear(self, data: bytes) -> None:
        if not data:
            raise ConnectionResetError("the worker closed the connection")
        self._asked = None
        *lines, self._half_heard = (self._half_heard + data).split(b"\n")
        for line in lines:
            if line == b"finish":
                self.finish.set()
            elif line == b"go on":
                self.progress.topics.heard()
            elif line.startswith(b"{") and self._log is not None:
                self._log.change_levels(json.loads(line))

    def _check_answers(self) -> None:
        asked = self._asked
        if asked is not None and time.monotonic() - asked > self._limits.unanswered_seconds:
            self.orphaned.set()

    def _message(self) -> bytes:
        now = time.monotonic()
        progress = self.progress
        body: dict[str, Any] = {
            "token": self._address.token,
            "lease": self._lease_id,
            "records": progress.records,
            "bytes": progress.payload_bytes,
            "active": progress.active,
            "waits": progress.waits,
            "tally": progress.tell(),
            "topics": progress.topics.tell(),
            "ended_early": progress.ended_early,
            "dry": None if progress.dry_since is None else now - progress.dry_since,
        }
        if self._log is not None:
            body["levels"] = self._log.levels_version
        if now - progress.last_step > STUCK_SECONDS:
            body["stuck"] = self._where()
        return json.dumps(body).encode() + b"\n"

    def _where(self) -> str:
        frame = sys._current_frames().get(self._main)
        return "".join(traceback.format_stack(frame)[-6:]) if frame else ""


@contextlib.contextmanager
def beating(
    address: HeartbeatAddress, lease_id: str, limits: Limits, log: LeaseLog | None = None
) -> Iterator[Heartbeat]:
    """A heartbeat for the length of a ``with`` block; it also sends ``log``."""
    heartbeat = Heartbeat(address, lease_id, limits, log)
    heartbeat.start()
    try:
        yield heartbeat
    finally:
        heartbeat.close()
