"""Which connector and task this thread is busy with: every line that it logs says so.

Threads do not inherit it: whoever hands work to another thread sets it there again.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Subject = tuple[str | None, int | None]
NOTHING: Subject = (None, None)

_subject: ContextVar[Subject] = ContextVar("penstock_log_subject", default=NOTHING)


@contextmanager
def about(connector: str, task: int | None = None) -> Iterator[None]:
    """For the length of a ``with`` block, what is logged is about this connector, or this task."""
    before = _subject.set((connector, task))
    try:
        yield
    finally:
        _subject.reset(before)


def stamp(record: logging.LogRecord) -> logging.LogRecord:
    """Put ``connector`` and ``task`` on a record; one that has them already keeps them."""
    if not hasattr(record, "connector"):
        record.connector, record.task = _subject.get()
    return record


def subject_of(record: logging.LogRecord) -> Subject:
    """What a record is about; (None, None) if it is about the worker itself."""
    return getattr(record, "connector", None), getattr(record, "task", None)
