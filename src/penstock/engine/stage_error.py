"""A record that a step of the pipeline could not handle: which step, in Kafka Connect's words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from penstock.sdk.errors import RecordError


def class_name(cls: type) -> str:
    """The name of a plugin's class: Kafka Connect's, where it stands in for one of its classes."""
    return getattr(cls, "connect_class", "") or f"{cls.__module__}.{cls.__qualname__}"


class StageError(RecordError):
    """As the error that a step has raised, with the step beside it."""

    def __init__(self, error: RecordError, stage: str, step: type, row: int | None = None) -> None:
        super().__init__(str(error), row=error.row if row is None else row)
        self.error = error
        self.stage = stage
        self.step = class_name(step)
        self.error_name = type(error).__name__

    @staticmethod
    def of(error: RecordError, stage: str, step: type) -> StageError:
        """``error`` with the step at which it was raised, unless it knows a more exact one."""
        return error if isinstance(error, StageError) else StageError(error, stage, step)


@contextmanager
def at_stage(stage: str, step: object) -> Iterator[None]:
    """What is raised about a record in the ``with`` block was raised by this step."""
    try:
        yield
    except RecordError as error:
        raise StageError.of(error, stage, type(step)) from error
