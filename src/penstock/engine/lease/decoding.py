"""Decodes the records of a sink, without those that cause errors, or up to the first of them."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from penstock.engine.pipeline.pipeline import without
from penstock.engine.pipeline.refusals import refusals
from penstock.engine.pipeline.stage_error import StageError

Decode = Callable[[pa.RecordBatch], list[pa.RecordBatch]]
SetAside = Callable[[int, StageError], None]
Decoded = tuple[list[pa.RecordBatch], StageError | None]


def decoded(raw: pa.RecordBatch, decode: Decode, set_aside: SetAside | None) -> Decoded:
    """What ``decode`` makes of the records; those that it refuses are set aside, row by row.

    Without ``set_aside``, what is before the first of them, and its error.
    """
    try:
        return decode(raw), None
    except StageError as error:
        if set_aside is None:
            return _before(raw, decode, error)
    refused = []

    def attempt(start: int, end: int) -> None:
        decode(raw.slice(start, end - start))

    for row, refusal in refusals(raw.num_rows, attempt, StageError):
        set_aside(row, refusal)
        refused.append(row)
    return decode(without(raw, refused)), None


def _before(raw: pa.RecordBatch, decode: Decode, error: StageError) -> Decoded:
    """The row that is named need not be the first."""
    while error.row:
        try:
            return decode(raw.slice(0, error.row)), error
        except StageError as earlier:
            error = earlier
    return [], error
