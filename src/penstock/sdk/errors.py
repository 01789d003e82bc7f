"""The errors a connector raises, and what each makes the worker do.

    PenstockError
    ├── ConfigError        the user can fix it: the message names the key and what to write
    ├── UserError          the user can fix it outside the config (a file's rights, a full disk)
    │   ├── OffsetError    an offset that the source or target cannot have
    │   └── ObjectError    an object of the source is damaged: the message says which and where
    ├── RetriableError     the same call is tried again after ``retry_after`` seconds
    ├── RecordError        one record is at fault: ``errors.tolerance`` decides what happens to it
    ├── TakenOver          another lease of this task has begun: this one ends, and nothing fails
    └── FatalError         waiting does not help: the task turns FAILED with this text

``ConfigError`` and ``UserError`` turn a task FAILED just as ``FatalError`` does, but their text is
shown without a traceback: it is written for the person who has to act. Any other exception counts
as fatal and keeps its traceback, since it is a defect of the connector.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self


class PenstockError(Exception):
    """Base of every error that this package raises on purpose.

    ``next_step`` is a sentence that says what to do about it, where the text itself does not.
    """

    next_step: str = ""

    def advising(self, next_step: str) -> Self:
        """This error, with what to do next."""
        self.next_step = next_step
        return self


class ConfigError(PenstockError):
    """A configuration value is missing or wrong.

    ``key`` is the configuration key at fault, or None when several are.
    """

    def __init__(self, message: str, *, key: str | None = None) -> None:
        super().__init__(message)
        self.key = key


class UserError(PenstockError):
    """Something outside the configuration needs a person; the message says what to do."""


class OffsetError(UserError):
    """An unusable offset: from ``alter_offsets``, a request that the user has to correct.

    Other errors of ``alter_offsets`` are answered with status 500, as by Kafka Connect, this one
    with 400.
    """


class ObjectError(UserError):
    """The rest of an object cannot be read; ``position`` records before it are whole."""

    def __init__(self, message: str, *, position: int = 0) -> None:
        super().__init__(message)
        self.position = position


class RetriableError(PenstockError):
    """The call failed for now; the worker repeats it after ``retry_after`` seconds."""

    def __init__(self, message: str, *, retry_after: float = 1.0) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class RecordError(PenstockError):
    """One record of a batch could not be handled; ``row`` is its index in that batch.

    A source's ``poll`` raises it for what it cannot make a record of, with the ``data`` that it
    has of it, and the offset with which the source goes on after it.
    """

    def __init__(
        self,
        message: str,
        *,
        row: int = 0,
        data: bytes | None = None,
        source_partition: Mapping[str, Any] | None = None,
        source_offset: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.row = row
        self.data = data
        self.source_partition = source_partition
        self.source_offset = source_offset


class TakenOver(PenstockError):  # noqa: N818 (it is no failure)
    """Another task has taken over, and this one must not go on.

    A task raises it when its source or target says so: a greater epoch is stored there, a lock is
    lost, a position has moved that only this task should move. The lease counts as lost: nothing
    more of it is committed, no status turns FAILED, and the worker starts the task again from what
    is committed, later each time.
    """


class FatalError(PenstockError):
    """The task cannot go on and no retry would help."""
