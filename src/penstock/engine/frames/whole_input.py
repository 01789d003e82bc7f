"""Tells whether a Python stage of Spark's was given all of its input.

If a stage fails before the Python part of it, in a cast or in a reader, Spark closes the stream to
the Python worker. Between two batches that looks like the end of the input, so that a function
which commits at the end would commit a part. Spark marks the real end behind the last batch.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any


class InputCutError(RuntimeError):
    """Spark has ended the task's input early: what was done with it must not count."""


def refuse_cut_input() -> None:
    """Call in the task, when its iterator has ended, before anything is committed."""
    if not _worker_input().peek(1):
        raise InputCutError("Spark ended the input of this task before all of it had come")


def _worker_input() -> Any:
    """The stream that PySpark's worker reads from; it stands at what follows the last batch."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "main" and hasattr(frame.f_locals.get("infile"), "peek"):
            return frame.f_locals["infile"]
        frame = frame.f_back
    raise InputCutError(
        "it is not known whether this task got all of its input: run it with Spark 4.0"
    )
