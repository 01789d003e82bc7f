"""Sends what a lease logs from a Python worker of Spark to the log of its worker.

The lease's end (`LeaseLog`) keeps lines until the next heartbeat. It never blocks and has a bounded
size: a task that logs too much loses lines, and one line says how many. The worker's end is `tell`.
"""

from __future__ import annotations

import logging
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from penstock.engine.lease.lease import Lease
from penstock.kafka import client_log
from penstock.logs.forms import TextForm, exception_of, message_of
from penstock.logs.levels import Levels, in_use, use
from penstock.logs.secrets import hide
from penstock.logs.subject import about

log = logging.getLogger(__name__)

WAITING_LINES = 1000
LINES_PER_BEAT = 200
LONGEST_TEXT = 8000

Line = dict[str, Any]
"""The attributes of a log record that are sent, all of them JSON."""


class LeaseLog(logging.Handler):
    """Lines of one lease, waiting for its heartbeat. Thread-safe."""

    def __init__(self, connector: str, task: int) -> None:
        super().__init__()
        self._connector, self._task = connector, task
        self._waiting: deque[Line] = deque()
        self._dropped = 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is kept. Everything this process does is for this lease."""
        record.connector, record.task = self._connector, self._task
        return in_use().keeps(record)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a line, or count it if there are too many."""
        if len(self._waiting) >= WAITING_LINES:
            self._dropped += 1
        else:
            self._waiting.append(_line(record))

    def take(self, most: int = LINES_PER_BEAT) -> list[Line]:
        """Remove and return the oldest lines."""
        self.acquire()
        try:
            taken = [self._waiting.popleft() for _ in range(min(most, len(self._waiting)))]
            dropped, self._dropped = self._dropped, 0
        finally:
            self.release()
        return [*taken, self._note(dropped)] if dropped else taken

    def _note(self, dropped: int) -> Line:
        note = logging.makeLogRecord(
            {
                "name": __name__,
                "levelno": logging.WARNING,
                "msg": f"{dropped} log lines of the task were dropped: it logs more than "
                f"{LINES_PER_BEAT} a second. Raise the level of its logger.",
                "connector": self._connector,
                "task": self._task,
            }
        )
        return _line(note)

    @property
    def waiting(self) -> bool:
        """Whether there are lines that were not sent yet."""
        return bool(self._waiting)

    @property
    def levels_version(self) -> int:
        """The log levels of this lease."""
        return in_use().version

    def change_levels(self, levels: Line) -> None:
        """Use other levels from now on."""
        use(Levels(**levels).for_connector(self._connector))

    def print_rest(self) -> None:
        """Lines that were not sent go to Spark's output of its Python workers."""
        form = TextForm()
        for line in self.take(WAITING_LINES):
            sys.stderr.write(form.format(logging.makeLogRecord(line)) + "\n")


def _line(record: logging.LogRecord) -> Line:
    return {
        "name": record.name,
        "levelno": record.levelno,
        "levelname": record.levelname,
        "created": record.created,
        "msecs": record.msecs,
        "threadName": record.threadName,
        "connector": getattr(record, "connector", None),
        "task": getattr(record, "task", None),
        "complaint": getattr(record, "complaint", None),
        "msg": message_of(record)[:LONGEST_TEXT],
        "exc_text": exception_of(record)[-LONGEST_TEXT:] or None,
    }


@contextmanager
def logged(lease: Lease) -> Iterator[LeaseLog]:
    """Within the ``with`` block, everything this process logs belongs to ``lease``."""
    lines = LeaseLog(lease.connector, lease.task)
    hide(lease.secrets, lease.connector)
    use(lease.log_levels.for_connector(lease.connector))
    logging.root.addHandler(lines)
    try:
        with about(lease.connector, lease.task):
            yield lines
    finally:
        logging.root.removeHandler(lines)


def tell(line: Any) -> None:
    """Log, in the worker, a line that came from a lease."""
    if not isinstance(line, dict):
        return
    record = logging.makeLogRecord(line)
    if not client_log.keeps(record):
        return
    # The root's handlers, since the record's own logger may not exist here.
    logging.root.handle(record)
