"""Commits in the background: meanwhile the lease polls and encodes, or reads and puts."""

from __future__ import annotations

import contextlib
import contextvars
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor


class Commits:
    """The commits of one lease, one at a time. Only the commit itself runs on another thread."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="commit")
        self.ended = 0.0
        """When the last commit was done, by the monotonic clock."""
        self._under_way: tuple[Future[None], Callable[[], None]] | None = None

    def begin(self, commit: Callable[[], None], then: Callable[[], None]) -> None:
        """Start a commit, after the previous one; ``then`` is called once it has succeeded."""
        self.settle()
        # What the commit logs is about this lease too.
        context = contextvars.copy_context()
        self._under_way = self._thread.submit(context.run, self._timed, commit), then

    def run(self, commit: Callable[[], None], then: Callable[[], None]) -> None:
        """A commit on this thread, after the previous one; ``then`` is called once it is done.

        For where nothing could be done meanwhile: handing it to a thread and waiting for that costs
        more than the rest of a small transaction.
        """
        self.settle()
        self._timed(commit)
        then()

    def _timed(self, commit: Callable[[], None]) -> None:
        commit()
        self.ended = time.monotonic()

    def settle(self) -> None:
        """Return when no commit is in progress; raises what the commit raised."""
        if self._under_way is None:
            return
        (commit, then), self._under_way = self._under_way, None
        commit.result()
        then()

    def close(self) -> None:
        """Wait for the commit in progress, whatever its outcome.

        Called when the lease ends anyway: even a SystemExit of the task, which is told of the
        commit, must not keep it from closing the rest.
        """
        with contextlib.suppress(BaseException):
            self.settle()
        self._thread.shutdown()
