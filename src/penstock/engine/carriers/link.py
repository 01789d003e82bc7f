"""The worker's end of one carrier: its process, when it was last heard from, its leases."""

from __future__ import annotations

import secrets
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from penstock.engine.carriers.book import Book, News
from penstock.engine.carriers.capacity import MOST_LEASES
from penstock.engine.carriers.channel import Channel
from penstock.engine.carriers.frames import Message
from penstock.engine.carriers.handshake import Identity
from penstock.engine.lease.lease_logs import tell

ANOTHER = "another process runs this carrier"
CONDEMNED = "this carrier has been abandoned"


@dataclass(frozen=True)
class Vitals:
    """What a carrier reports about itself."""

    cpu_seconds: float = 0.0
    memory_bytes: int = 0
    threads: int = 0
    most: int = MOST_LEASES
    """How many leases its file handles, threads and memory allow."""


class Link:
    """Thread-safe. ``on_news`` is called on the connection's thread with what is new."""

    def __init__(
        self, extras: Callable[[], Message], on_news: Callable[[Link, News], None]
    ) -> None:
        self.carrier = uuid.uuid4().hex
        self.secret = secrets.token_hex(32)
        self.book = Book()
        self.vitals = Vitals()
        self.condemned = False
        self.last_words = ""
        """Why its process is about to end, as it has told."""
        self._extras = extras
        self._on_news = on_news
        self._lock = threading.Lock()
        self._process: str | None = None
        self._channel: Channel | None = None
        self._heard_at: float | None = None

    @property
    def connected(self) -> bool:
        """Whether it is connected."""
        return self._channel is not None

    @property
    def bound(self) -> bool:
        """Whether a process has ever run it."""
        return self._process is not None

    def silence(self) -> float:
        """Seconds since it was last heard from; 0 if it never was."""
        heard = self._heard_at
        return 0.0 if heard is None else time.monotonic() - heard

    def refusal(self, identity: Identity) -> str:
        """Why this process may not run the carrier; "" if it may. The first one is bound to it."""
        with self._lock:
            if self.condemned:
                return CONDEMNED
            self._process = self._process or identity.process
            return "" if self._process == identity.process else ANOTHER

    def attach(self, channel: Channel) -> None:
        """Use this connection from now on; an earlier one is closed."""
        with self._lock:
            before, self._channel = self._channel, channel
            self._heard_at = time.monotonic()
        if before is not None:
            before.close()

    def detach(self, channel: Channel) -> None:
        """That connection is closed."""
        with self._lock:
            if self._channel is channel:
                self._channel = None

    def tell(self) -> None:
        """Signal news for the carrier. Never blocks."""
        channel = self._channel
        if channel is not None:
            channel.tell()

    def state(self) -> Message:
        """The message to send: the state of the book, and what is the same for all carriers."""
        return {**self._extras(), **self.book.state()}

    def hear(self, state: Message) -> None:
        """Process one of its states and answer it."""
        self._heard_at = time.monotonic()
        self.vitals = _vitals(state.get("vitals"))
        self.last_words = str(state.get("last_words") or "")
        news = self.book.hear(state)
        self.tell()
        for line in state.get("log", ()):
            tell(line)
        self._on_news(self, news)

    def close(self) -> None:
        """Disconnect it, and admit no other process in its name."""
        with self._lock:
            self.condemned = True
            channel, self._channel = self._channel, None
        if channel is not None:
            channel.close()


def _vitals(told: Any) -> Vitals:
    return Vitals(**told) if isinstance(told, dict) else Vitals()
