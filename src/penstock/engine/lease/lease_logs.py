"""Sends what leases log from a Python worker of Spark to the log of its worker.

The process's end (`ProcessLog`) keeps lines until the next message to the worker. It never blocks
and has a bounded size: leases that log too much lose lines, and one line says how many. A line
belongs to the lease on whose thread it was logged; in one that belongs to none, the secrets of all
are hidden. The worker's end is `tell`.
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
from penstock.logs.secrets import hide_also
from penstock.logs.subject import about, stamp

log = logging.getLogger(__name__)

WAITING_LINES = 1000
LINES_PER_MESSAGE = 200
LONGEST_TEXT = 8000

Line = dict[str, Any]
"""The attributes of a log record that are sent, all of them JSON."""


class ProcessLog(logging.Handler):
    """Lines of all leases of this process, waiting for the next message. Thread-safe."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting: deque[Line] = deque()
        self._dropped = 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is kept, by the levels of the connector that it is about."""
        return in_use().keeps(stamp(record))

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a line, or count it if there are too many."""
        if len(self._waiting) >= WAITING_LINES:
            self._dropped += 1
        else:
            self._waiting.append(_line(record))

    def take(self, most: int = LINES_PER_MESSAGE) -> list[Line]:
        """Remove and return the oldest lines."""
        self.acquire()
        try:
            taken = [self._waiting.popleft() for _ in range(min(most, len(self._waiting)))]
            dropped, self._dropped = self._dropped, 0
        finally:
            self.release()
        return [*taken, _note(dropped)] if dropped else taken

    @property
    def waiting(self) -> bool:
        """Whether there are lines that were not sent yet."""
        return bool(self._waiting)

    def print_rest(self) -> None:
        """Lines that were not sent go to Spark's output of its Python workers."""
        form = TextForm()
        for line in self.take(WAITING_LINES):
            sys.stderr.write(form.format(logging.makeLogRecord(line)) + "\n")


def _note(dropped: int) -> Line:
    return _line(
        logging.makeLogRecord(
            {
                "name": __name__,
                "levelno": logging.WARNING,
                "msg": f"{dropped} log lines of tasks were dropped: they log more than "
                f"{LINES_PER_MESSAGE} a second. Raise the level of their loggers.",
            }
        )
    )


@contextmanager
def process_log() -> Iterator[ProcessLog]:
    """Within the ``with`` block, everything this process logs goes to its worker."""
    lines = ProcessLog()
    logging.root.addHandler(lines)
    try:
        yield lines
    finally:
        logging.root.removeHandler(lines)
        lines.print_rest()


@contextmanager
def logged(lease: Lease) -> Iterator[None]:
    """Within the ``with`` block, everything this thread logs belongs to ``lease``."""
    hide_also(lease.secrets, lease.connector)
    with about(lease.connector, lease.task):
        yield


def change_levels(levels: Line) -> None:
    """Use the levels that the worker has sent, unless this process has them already."""
    if levels.get("version") != in_use().version:
        use(Levels(**levels))


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


def tell(line: Any) -> None:
    """Log, in the worker, a line that came from a lease."""
    if not isinstance(line, dict):
        return
    record = logging.makeLogRecord(line)
    if not client_log.keeps(record):
        return
    # The root's handlers, since the record's own logger may not exist here.
    logging.root.handle(record)
