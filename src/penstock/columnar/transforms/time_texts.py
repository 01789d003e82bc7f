"""Dates, times and timestamps in the text that Kafka Connect prints for them."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
from pyarrow import compute

_DAY: Final = 86_400_000


def milliseconds(array: pa.Array) -> pa.Array:
    """The moments of a date, time or timestamp column, since the epoch."""
    if pa.types.is_date(array.type):
        return array.cast(pa.timestamp("ms")).cast(pa.int64())
    if pa.types.is_time(array.type):
        return array.cast(pa.time32("ms")).cast(pa.int32()).cast(pa.int64())
    return array.cast(pa.timestamp("ms", tz="UTC"), safe=False).cast(pa.int64())


def iso_texts(array: pa.Array) -> pa.Array:
    """As Kafka Connect's ``Values`` prints a ``java.util.Date``, whose type it does not know.

    Whatever is before the second day is a time, midnights are dates, and the rest is both.
    """
    moments = milliseconds(array)
    stamps = moments.cast(pa.timestamp("ms"))
    midnight = compute.equal(_remainder(moments), 0)
    dated = compute.if_else(
        midnight,
        compute.strftime(stamps, "%Y-%m-%d"),
        compute.strftime(stamps, "%Y-%m-%dT%H:%M:%SZ"),
    )
    return compute.if_else(
        compute.less(moments, _DAY), compute.strftime(stamps, "%H:%M:%SZ"), dated
    )


def _remainder(moments: pa.Array) -> pa.Array:
    days = compute.multiply(compute.divide(moments, _DAY), _DAY)
    return compute.subtract(moments, days)
