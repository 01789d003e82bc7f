"""Which connector and task this thread is working for: every line that it logs says so.

Threads do not inherit it: code that hands work to another thread must set it there again.
"""

from __future__ import annotations

import logging
from contextvars import ContextVar, Token

Subject = tuple[str | None, int | None]
NOTHING: Subject = (None, None)

_subject: ContextVar[Subject] = ContextVar("penstock_log_subject", default=NOTHING)


class about:  # noqa: N801 (read as a word: ``with about(name):``)
    """Within the ``with`` block, everything logged is about this connector, or this task.

    A class rather than a generator, which would double the cost of a look at an idle connector.
    """

    __slots__ = ("_before", "_subject")

    def __init__(self, connector: str, task: int | None = None) -> None:
        self._subject: Subject = (connector, task)

    def __enter__(self) -> None:
        self._before: Token[Subject] = _subject.set(self._subject)

    def __exit__(self, *_: object) -> None:
        _subject.reset(self._before)


def stamp(record: logging.LogRecord) -> logging.LogRecord:
    """Put ``connector`` and ``task`` on a record; one that has them already keeps them."""
    if not hasattr(record, "connector"):
        record.connector, record.task = _subject.get()
    return record


def subject_of(record: logging.LogRecord) -> Subject:
    """What a record is about; (None, None) if it is about the worker itself."""
    return getattr(record, "connector", None), getattr(record, "task", None)
