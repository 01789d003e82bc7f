"""Records on their way from an iterator to ``poll``: pulled when asked, or ahead by a thread."""

from __future__ import annotations

import logging
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from contextvars import copy_context
from typing import Final

from penstock.sdk.batches import SourceBatch
from penstock.sdk.records import SourceRecord
from penstock.sdk.sources.backoff import Backoff, BackoffConfig
from penstock.sdk.sources.iterators import Item, next_item, rows_of, size_of

log = logging.getLogger(__name__)

Polled = SourceBatch | list[SourceRecord] | None
Open = Callable[[], Iterator[Item | None]]
Made = Callable[[Item], None]

MOST_BYTES: Final = 4 << 20
MOMENT: Final = 0.05
"""Seconds."""


class Intake(ABC):
    """Hands on what an iterator gives, in order. ``made`` is called with each item pulled."""

    busy: bool = False
    """Whether the iterator was asked and has not answered yet."""

    @abstractmethod
    def take(self, most_rows: int, most_bytes: int) -> Polled:
        """Records up to about so much, or one batch; None if there is nothing just now.

        What the iterator raised is raised here, once, after all that came before it was taken.
        After a ``RetriableError`` the iterator is asked again.
        """

    def end(self) -> None:  # noqa: B027 (one that pulls when asked has nothing to end)
        """Pull no more; what was pulled can still be taken."""

    def join(self, seconds: float) -> bool:
        """Wait for what is being pulled; whether nothing is any more."""
        return True


class PromptIntake(Intake):
    """Asks the iterator inside ``take``: for one that is known to answer promptly."""

    def __init__(
        self,
        iterator: Iterator[Item | None],
        config: BackoffConfig,
        made: Made,
        pauses: Backoff | None,
    ) -> None:
        """Without ``pauses`` a dry iterator is asked every time."""
        self._iterator = iterator
        self._stopping = config.stopping
        self._pauses = pauses
        self._made = made
        self._ask_at = 0.0
        self._ahead: Item | None = None
        self._error: Exception | None = None

    def take(self, most_rows: int, most_bytes: int) -> Polled:
        taken: list[SourceRecord] = []
        size = 0
        while len(taken) < most_rows and size < most_bytes:
            item = self._next(bool(taken))
            if item is None:
                break
            if isinstance(item, SourceBatch):
                if not taken:
                    return item
                self._ahead = item
                break
            taken.append(item)
            size += size_of(item)
        return taken or None

    def _next(self, has_some: bool) -> Item | None:
        if self._ahead is not None:
            item, self._ahead = self._ahead, None
            return item
        try:
            return None if self._stopping.is_set() else self._ask()
        except Exception as error:
            if not has_some:
                raise
            self._error = error
            return None

    def _ask(self) -> Item | None:
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        if time.monotonic() < self._ask_at:
            return None
        item = next_item(self._iterator)
        if item is not None:
            self._made(item)
        if self._pauses is not None:
            self._pause(self._pauses, dry=item is None)
        return item

    def _pause(self, pauses: Backoff, *, dry: bool) -> None:
        if dry:
            self._ask_at = time.monotonic() + pauses.next_delay()
        else:
            pauses.reset()

    def end(self) -> None:
        self._stopping.set()


class ThreadIntake(Intake):
    """Pulls ahead on a thread of its own, up to a bound: for an iterator that may block.

    Each counter is written by one thread alone, and a deque's ends are safe to use from two, so
    that no lock is taken for a record.
    """

    def __init__(
        self, open_iterator: Open, config: BackoffConfig, made: Made, most_rows: int
    ) -> None:
        self._open = open_iterator
        self._stopping = config.stopping
        self._backoff = Backoff(config)
        self._made = made
        self._most_rows = most_rows
        self._items: deque[Item | BaseException] = deque()
        self._pulled = self._pulled_bytes = 0
        self._taken = self._taken_bytes = 0
        self._room = threading.Event()
        self._arrived = threading.Event()
        self._resumed = threading.Event()
        self._raised = False
        self.busy = True
        run = copy_context().run  # log lines belong to the same task there
        self._thread = threading.Thread(
            target=run, args=(self._run,), name="source-iterator", daemon=True
        )
        self._thread.start()

    def take(self, most_rows: int, most_bytes: int) -> Polled:
        if self._raised:
            self._raised = False
            self.busy = True  # before the thread says so: it is not dry in between
            self._resumed.set()
        self._wait_a_moment()
        taken: list[SourceRecord] = []
        size = 0
        while self._items and len(taken) < most_rows and size < most_bytes:
            if not isinstance(self._items[0], SourceRecord):
                break
            record = self._items.popleft()
            assert isinstance(record, SourceRecord)  # noqa: S101 (narrows the type)
            taken.append(record)
            size += size_of(record)
        self._count(len(taken), size)
        return taken or self._take_other()

    def _wait_a_moment(self) -> None:
        """While the iterator is at work: to come back later would cost more than to wait for it."""
        self._arrived.clear()
        if self.busy and not self._items and not self._stopping.is_set():
            self._arrived.wait(MOMENT)

    def _take_other(self) -> SourceBatch | None:
        if not self._items or isinstance(self._items[0], SourceRecord):
            return None
        item = self._items.popleft()
        if isinstance(item, BaseException):
            self._raised = True
            raise item
        assert isinstance(item, SourceBatch)  # noqa: S101 (narrows the type)
        self._count(rows_of(item), size_of(item))
        return item

    def _count(self, rows: int, size: int) -> None:
        self._taken += rows
        self._taken_bytes += size
        self._room.set()

    def end(self) -> None:
        self._stopping.set()
        self._room.set()
        self._resumed.set()

    def join(self, seconds: float) -> bool:
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        iterator: Iterator[Item | None] | None = None
        while not self._stopping.is_set():
            try:
                iterator = self._open() if iterator is None else iterator
                self._pull(iterator)
            except BaseException as error:  # noqa: BLE001 (poll raises it: SystemExit too)
                self._hand_over(error)
        self._rest()

    def _pull(self, iterator: Iterator[Item | None]) -> None:
        while not self._stopping.is_set():
            self._wait_for_room()
            self.busy = True
            item = None if self._stopping.is_set() else next_item(iterator)
            if item is not None:
                self._add(item)
                continue
            self._rest()
            self._backoff.delay()

    def _add(self, item: Item) -> None:
        self._made(item)
        self._pulled += rows_of(item)
        self._pulled_bytes += size_of(item)
        self._items.append(item)
        self._backoff.reset()
        if not self._arrived.is_set():
            self._arrived.set()

    def _rest(self) -> None:
        self.busy = False
        self._arrived.set()

    def _hand_over(self, error: BaseException) -> None:
        """Wait until it was raised and another poll came: then the iterator may be asked again."""
        self._resumed.clear()
        self._items.append(error)
        self._rest()
        if not self._stopping.is_set():
            self._resumed.wait()

    def _wait_for_room(self) -> None:
        while self._is_full() and not self._stopping.is_set():
            self._room.clear()
            if self._is_full() and not self._stopping.is_set():
                self._room.wait()

    def _is_full(self) -> bool:
        rows, size = self._pulled - self._taken, self._pulled_bytes - self._taken_bytes
        return rows >= self._most_rows or size >= MOST_BYTES
