"""A record that a step of the pipeline could not handle: which step, in Kafka Connect's words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from penstock.sdk.errors import RecordError


def class_name(cls: type) -> str:
    """The name of a plugin's class: Kafka Connect's, where it stands in for one of its classes."""
    return getattr(cls, "connect_class", "") or f"{cls.__module__}.{cls.__qualname__}"


class StageError(RecordError):
    """The error that a step has raised, with the step."""

    def __init__(self, error: RecordError, stage: str, step: type, row: int | None = None) -> None:
        super().__init__(str(error), row=error.row if row is None else row)
        self.error = error
        self.stage = stage
        self.step = class_name(step)
        self.error_name = type(error).__name__

    @staticmethod
    def of(error: RecordError, stage: str, step: type) -> StageError:
        """``error`` with the step that raised it, unless it has a more exact one."""
        return error if isinstance(error, StageError) else StageError(error, stage, step)


@contextmanager
def at_stage(stage: str, step: object) -> Iterator[None]:
    """Errors about a record that are raised in the ``with`` block are this step's."""
    try:
        yield
    except RecordError as error:
        raise StageError.of(error, stage, type(step)) from error
