"""Storing what a session has committed: when asked to, and in the background."""

from __future__ import annotations

import threading
from collections.abc import Callable

from penstock.consumers.errors import ConsumerError, Fenced, FlushFailed
from penstock.consumers.holding.keeper import Keeper
from penstock.consumers.options import Options
from penstock.consumers.reading.progress import Offsets, Progress
from penstock.kafka.errors import KafkaFault

RETRY_SECONDS = 1.0


class Storing:
    """One thread at a time stores. Thread-safe."""

    def __init__(
        self,
        options: Options,
        keeper: Keeper,
        progress: Progress,
        lock: threading.RLock,
        closed: threading.Event,
        *,
        halt: Callable[[], None],
    ) -> None:
        """``lock`` guards ``progress``; ``halt`` makes a loop over records ask for the trouble."""
        self.trouble: Exception | None = None
        self._options = options
        self._keeper = keeper
        self._progress = progress
        self._lock = lock
        self._closed = closed
        self._halt = halt
        self._turn = threading.Lock()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Store in the background from now on, until the session is closed."""
        self._thread = threading.Thread(target=self._store_often, name="flush", daemon=True)
        self._thread.start()

    def join(self, timeout: float) -> None:
        """Wait for the background thread to end."""
        if self._thread is not None:
            self._thread.join(timeout)

    def register(self, begin: Offsets) -> None:
        """Let the registry know of partitions that are read from now on."""
        with self._turn:
            self._keeper.register(begin)

    def store(self, *, released: bool = False) -> None:
        """What is committed. Fenced if another process has the name."""
        with self._turn:
            with self._lock:
                committed = self._progress.committed()
            self._keeper.store(committed, released=released)

    def _store_often(self) -> None:
        while not self._closed.wait(min(self._options.flush, self._keeper.every)):
            try:
                self.store()
                self._keeper.raise_failure()
            except Fenced as error:
                self._tell(error)
            except (KafkaFault, ConsumerError) as error:
                text = f"positions could not be stored ({error}); it is being tried again"
                self._tell(FlushFailed(text))
            else:
                self.trouble = None

    def _tell(self, trouble: Exception) -> None:
        self.trouble = trouble
        self._halt()

    # What went wrong.

    def raise_trouble(self) -> None:
        """Tell what went wrong in the background."""
        self.raise_fenced()
        if self._keeper.lost:
            self._regain()
        self.raise_pending()

    def raise_pending(self) -> None:
        """Tell once what the background thread has noted."""
        trouble, self.trouble = self.trouble, None
        if trouble is not None:
            raise trouble

    def raise_fenced(self) -> None:
        """Fenced if another process has taken over the name."""
        if self._keeper.fenced:
            raise Fenced.of(self._options.name or "")

    def _regain(self) -> None:
        """Nothing is handed out before it is known that no other process has the name."""
        try:
            self.store()
        except KafkaFault as error:
            self._closed.wait(RETRY_SECONDS)  # asking in a loop keeps no broker busy
            raise FlushFailed(f"{error}; trying again") from error
        self.trouble = None  # which was about that
