"""What a running lease and its carrier tell each other.

The lease writes its progress and checks whether it is to end; the carrier's threads read the one
and set the other. A lease that is to *finish* commits what it has; an *orphan* ends uncommitted:
its worker is frozen or gone, or has revoked it.
"""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from penstock.engine.lease.lease import Membership
from penstock.engine.lease.naps import WATCHMAN
from penstock.engine.lease.tally import Tally
from penstock.engine.lease.used_topics import UsedTopics

STUCK_SECONDS = 3.0
TELL_SECONDS = 0.5
"""A message that follows another one sooner than this has nothing of a lease without news: with a
hundred leases there are several a second, about one of them each."""


@dataclass
class Progress(Tally):
    """What a lease reports to its worker; written by the lease, read by its carrier's threads."""

    active: int = 0
    """Records in the transaction that is open."""
    waits: int = 0
    """How often waiting for brokers was found to be worthwhile: a sign of life."""
    awaits: str | None = None
    """What the task's last call says it has to wait for; empty if it succeeded, None before it."""
    closing: bool = False
    """Whether everything is committed, and the task only closes what it has open."""
    dry_since: float | None = None
    last_step: float = 0.0
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


class _Ringing(threading.Event):
    """Rings a bell when it is set."""

    def __init__(self, bell: threading.Event) -> None:
        super().__init__()
        self._bell = bell

    def set(self) -> None:
        super().set()
        self._bell.set()


class Heartbeat:
    """The carrier's hold on one lease."""

    def __init__(
        self,
        confirm: Callable[[], bool] = lambda: True,
        tell: Callable[[], None] = lambda: None,
        *,
        standing: Callable[[], Membership | None] = lambda: None,
        leases: Callable[[], int] = lambda: 1,
    ) -> None:
        """``tell`` signals that there is something that should not wait for the next message."""
        self.progress = Progress(last_step=time.monotonic(), topics=UsedTopics(tell))
        self._tell = tell
        self.bell = threading.Event()
        """Rung to wake a lease that sleeps."""
        self.finish: threading.Event = _Ringing(self.bell)
        self.orphaned = threading.Event()
        self.confirm = confirm
        """Ask the worker whether it still wants this lease (rule 10)."""
        self.standing = standing
        """The worker's membership as it was last told, if it was."""
        self.leases = leases
        """How many leases its carrier runs, this one included."""
        self._thread = threading.get_ident()
        self._asked_on: int | None = None
        """The thread on which the task is asked for news just now."""
        self._before: float | None = None
        self._told: deque[int] = deque()
        self._told_at: float | None = None
        self._told_awaits: str | None = None

    def runs_here(self) -> None:
        """The lease runs on the calling thread."""
        self._thread = threading.get_ident()

    def prepared(self) -> None:
        """Its clients are made and its task has started: how busy it is counts from now on."""
        self._before = self._thread_seconds()

    def closes(self) -> None:
        """All is committed: the task is stopped now, which may take some seconds."""
        self.progress.step()
        self.progress.closing = True
        self._told_at = None
        self._tell()

    @property
    def over(self) -> bool:
        """Whether the lease should end now, for either reason."""
        return self.finish.is_set() or self.orphaned.is_set()

    def nap(
        self,
        has_news: Callable[[], bool],
        seconds: float,
        wake_on_news: Callable[[Callable[[], None]], bool] = lambda _wake: False,
    ) -> None:
        """Sleep until there is news or the lease should end, at most for so many seconds."""
        self.bell.clear()
        if self.over:
            return
        if wake_on_news(self.bell.set):
            self.bell.wait(seconds)
        else:
            WATCHMAN.nap(lambda: self._asked(has_news), self.bell, seconds)

    def _asked(self, has_news: Callable[[], bool]) -> bool:
        self._asked_on = threading.get_ident()
        try:
            return has_news()
        finally:
            self._asked_on = None

    def orphan(self) -> None:
        """End uncommitted, and wake whatever waits for *finish*."""
        self.orphaned.set()
        self.finish.set()

    def tell(self, number: int) -> dict[str, Any]:
        """The progress, for the message of that number to the worker; empty if it was just told."""
        now, progress = time.monotonic(), self.progress
        if self._has_just_told(now):
            return {}
        self._told_at, self._told_awaits = now, progress.awaits
        self._told.append(number)
        told = {
            "active": progress.active,
            "waits": progress.waits,
            "awaits": progress.awaits,
            "closing": progress.closing,
            "tally": progress.tell(),
            "topics": progress.topics.tell(),
            "dry": None if progress.dry_since is None else now - progress.dry_since,
            "cpu_seconds": self._cpu_seconds(),
        }
        if now - progress.last_step > STUCK_SECONDS:
            told["stuck"] = self._where()
        return told

    def heard(self, number: int) -> None:
        """The worker has received the messages up to that number."""
        while self._told and self._told[0] <= number:
            self._told.popleft()
            self.progress.topics.heard()

    def tell_again(self) -> None:
        """The connection is new: unanswered messages may have been lost."""
        self._told.clear()
        self._told_at = None
        self.progress.topics.tell_again()

    def _has_just_told(self, now: float) -> bool:
        recent = self._told_at is not None and now - self._told_at < TELL_SECONDS
        progress = self.progress
        return recent and progress.awaits == self._told_awaits and not progress.topics.urgent

    def _cpu_seconds(self) -> float:
        """What it has used without its preparation, which no other carrier would save."""
        before = self._before
        return 0.0 if before is None else max(0.0, self._thread_seconds() - before)

    def _thread_seconds(self) -> float:
        try:
            return time.clock_gettime(time.pthread_getcpuclockid(self._thread))
        except OSError:  # the thread has just ended
            return 0.0

    def _where(self) -> str:
        frame = sys._current_frames().get(self._asked_on or self._thread)
        return "".join(traceback.format_stack(frame)[-6:]) if frame else ""
