"""The process of a carrier, inside a Spark task.

The Spark task's own thread holds the connection; another thread watches the process. It ends all
leases uncommitted when the worker has not answered for ``unanswered`` seconds, and the whole
process, immediately, if a lease does not end then, or if it exceeds its memory limit. The process
returns to Spark only when no lease has left anything running in it: Spark would run other tasks
next to it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from penstock.engine.carriers.capacity import usual_memory
from penstock.engine.carriers.channel import Channel
from penstock.engine.carriers.frames import Message, Stream, tuned
from penstock.engine.carriers.handshake import Dismissed, Identity, introduce
from penstock.engine.carriers.holdings import Holdings
from penstock.engine.carriers.hub import Address

log = logging.getLogger(__name__)

BEAT_SECONDS = 1.0
TICK_SECONDS = 0.2
CONNECT_PAUSE = 0.2
EXIT_CODE = 70
WORDS_SECONDS = 0.2
"""How long an ending process waits for its last message to be sent."""


@dataclass(frozen=True)
class Patience:
    """A carrier's timeouts."""

    unanswered: float = 5.0
    """Seconds without an answer after which the worker is taken to be frozen or gone."""
    ending: float = 2.0
    """Seconds that a lease has to end when told to."""


@dataclass(frozen=True)
class Summons:
    """What a carrier is started with. Part of the closure of its Spark job."""

    address: Address
    carrier: str
    secret: str
    patience: Patience = Patience()
    certificate: str = ""
    """The worker's, beyond one machine: the connection is then encrypted."""
    most_bytes: int | None = 0
    """Memory beyond which the process ends itself; 0 for no limit, None for the usual one."""
    brokers: int = 1
    """How many brokers its clients connect to."""

    @property
    def memory_limit(self) -> int:
        """``most_bytes``; the usual limit is that of the machine where this is called."""
        return usual_memory() if self.most_bytes is None else self.most_bytes


class CarrierProcess:
    """Runs one carrier, once. ``hold`` creates its holdings, given a function that signals news."""

    def __init__(
        self,
        summons: Summons,
        hold: Callable[[Callable[[], None]], Holdings],
        *,
        encrypt: Callable[[socket.socket], Stream] | None = None,
        extras: Callable[[], Message] = dict,
        heed: Callable[[Message], None] = lambda _state: None,
        memory: Callable[[], int] = lambda: 0,
        leave: Callable[[int], object] = os._exit,
    ) -> None:
        self._summons = summons
        self._encrypt = encrypt
        self._most_bytes = summons.memory_limit
        self._extras = extras
        self._heed = heed
        self._memory = memory
        self._leave = leave
        self._identity = Identity(summons.carrier, uuid.uuid4().hex)
        self._holdings = hold(self._tell)
        self._channel: Channel | None = None
        self._over = threading.Event()
        self._last_words = ""

    def run(self) -> None:
        """Run it to its end. Returns only when nothing of any lease is left."""
        watch = threading.Thread(target=self._watch, name="carrier-watch", daemon=True)
        watch.start()
        try:
            while not self._over.is_set():
                self._converse_once()
                self._over.wait(CONNECT_PAUSE)
            if not self._holdings.wait_until_idle(self._summons.patience.ending):
                self._exit("a lease does not end")
        finally:
            self._over.set()
            watch.join(timeout=2)

    def _tell(self) -> None:
        channel = self._channel
        if channel is not None:
            channel.tell()

    def _converse_once(self) -> None:
        self._holdings.asking()
        try:
            with self._connected() as (connection, stream):
                introduce(stream, self._identity, self._summons.secret)
                connection.settimeout(None)
                self._converse(connection, stream)
        except Dismissed as error:
            log.warning("the worker no longer wants this carrier: %s", error)
            self._orphan()
        except OSError as error:
            log.debug("no connection to the worker: %s", error)

    @contextlib.contextmanager
    def _connected(self) -> Iterator[tuple[socket.socket, Stream]]:
        patience = self._summons.patience.unanswered
        address = self._summons.address
        with socket.create_connection((address.host, address.port), timeout=patience) as connection:
            tuned(connection)
            yield connection, self._encrypt(connection) if self._encrypt else connection

    def _converse(self, connection: socket.socket, stream: Stream) -> None:
        channel = Channel(
            connection, stream, compose=self._state, hear=self._hear, interval=BEAT_SECONDS
        )
        self._channel = channel
        try:
            if not self._over.is_set():
                channel.run()
        finally:
            self._channel = None

    def _state(self) -> Message:
        return {**self._extras(), **self._holdings.state(), "last_words": self._last_words}

    def _hear(self, state: Message) -> None:
        self._heed(state)
        self._holdings.hear(state)
        if self._holdings.ending and self._holdings.clean:
            self._end()

    def _end(self) -> None:
        self._over.set()
        if self._channel is not None:
            self._channel.close()

    def _orphan(self) -> None:
        self._holdings.orphan_all()
        self._end()

    def _watch(self) -> None:
        while not self._over.wait(TICK_SECONDS):
            if self._holdings.unanswered() > self._summons.patience.unanswered:
                log.warning("the worker no longer answers; ending all leases uncommitted")
                self._orphan()
            elif 0 < self._most_bytes < self._memory():
                self._exit_with(f"it used more than {self._most_bytes >> 20} MB of memory")
        self._exit_if_stuck()

    def _exit_if_stuck(self) -> None:
        """However the carrier ended, the process must not outlive it."""
        if not self._holdings.wait_until_idle(self._summons.patience.ending + 1.0):
            self._exit("a lease does not end")

    def _exit_with(self, words: str) -> None:
        """End the process, and tell the worker why, as far as that can be done in a moment."""
        self._last_words = words
        self._tell()
        time.sleep(WORDS_SECONDS)
        self._exit(words)

    def _exit(self, why: str) -> None:
        log.error("the carrier process exits now: %s", why)
        self._leave(EXIT_CODE)


def process_memory() -> int:
    """Bytes that this process has in memory."""
    with open("/proc/self/statm", "rb") as file:  # noqa: PTH123 (read several times a second)
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
