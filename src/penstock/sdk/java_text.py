"""Numbers and moments in the text that Java prints for them."""

from __future__ import annotations

import datetime as dt
import math

import numpy as np

_DAY = 86_400_000
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def float_text(number: float | np.float32) -> str:
    """Java's ``toString`` of a double, or of a float if ``number`` is a ``numpy.float32``."""
    if math.isnan(number) or math.isinf(number):
        return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"
    exact = number if isinstance(number, np.floating) else np.float64(number)
    if number == 0 or 1e-3 <= abs(float(number)) < 1e7:
        return np.format_float_positional(exact, unique=True, trim="0")
    text = np.format_float_scientific(exact, unique=True, trim="0", exp_digits=1)
    return text.replace("e+", "E").replace("e", "E")


def moment_text(moment: dt.date | dt.time | dt.datetime) -> str:
    """As Kafka Connect prints a ``java.util.Date``, whose type it does not know.

    Whatever is before the second day is a time, midnights are dates, and the rest is both.
    """
    since = milliseconds(moment)
    stamp = _EPOCH + dt.timedelta(milliseconds=since)
    clock = f"{stamp:%H:%M:%S}.{since % 1000:03d}Z"
    if since < _DAY:
        return clock
    day = f"{stamp.year:04d}-{stamp:%m-%d}"
    return day if since % _DAY == 0 else f"{day}T{clock}"


def milliseconds(moment: dt.date | dt.time | dt.datetime) -> int:
    """Since the epoch; a time is of the epoch's day."""
    if isinstance(moment, dt.datetime):
        stamp = moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)
    elif isinstance(moment, dt.time):
        stamp = dt.datetime.combine(_EPOCH.date(), moment, dt.UTC)
    else:
        stamp = dt.datetime.combine(moment, dt.time(), dt.UTC)
    return (stamp - _EPOCH) // dt.timedelta(milliseconds=1)
