"""Arrow columns as drivers return them, made into those of Connect's schemas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from penstock.sdk.errors import UserError
from penstock.sdk.schema import Schema

_EPOCH_MICROS: Final = 946_684_800_000_000
"""From 1970 to 2000, where PostgreSQL begins to count."""
_EPOCH_DAYS: Final = 10_957
_READ_INFINITY: Final = -(2**63) - 1 + _EPOCH_MICROS
READ_MINUS_INFINITY: Final = -(2**63) + _EPOCH_MICROS
_READ_DAY_INFINITY: Final = -(2**31) - 1 + _EPOCH_DAYS
READ_DAY_MINUS_INFINITY: Final = -(2**31) + _EPOCH_DAYS
"""What a driver makes of PostgreSQL's infinities: sums that overflowed."""
_OLDEST_MICROS: Final = -220_000_000_000_000_000
"""Before 4713 BC: what is lower has overflowed."""

INFINITY_MILLIS: Final = 9_223_372_036_825_200_000
MINUS_INFINITY_MILLIS: Final = -9_223_372_036_832_400_000
"""How PostgreSQL's JDBC driver says infinity, in milliseconds."""
INFINITE_DAY: Final = 2**31 - 1
MINUS_INFINITE_DAY: Final = -(2**31)


def cast(to: pa.DataType) -> Callable[[Any], Any]:
    """Arrow's own cast, which refuses what does not fit."""
    return lambda array: _storage(array).cast(to)


def truncate(to: pa.DataType) -> Callable[[Any], Any]:
    """Arrow's own cast, in which digits may be lost."""
    return lambda array: _storage(array).cast(to, safe=False)


def _storage(array: Any) -> Any:
    return array.storage if isinstance(array, pa.ExtensionArray) else array


def days(array: Any) -> Any:
    """Dates, the infinite ones as the first and the last day there is."""
    numbers = array.cast(pa.int32())
    numbers = _replaced(numbers, _READ_DAY_INFINITY, INFINITE_DAY)
    return _replaced(numbers, READ_DAY_MINUS_INFINITY, MINUS_INFINITE_DAY).cast(pa.date32())


def timestamps(granularity: str, zone: str | None) -> tuple[Schema, Callable[[Any], Any]]:
    """The schema of timestamps, and their conversion; ``zone`` is that of those without one."""
    unit, _, form = granularity.partition("_")
    if unit == "connect":
        return Schema.timestamp(), lambda array: _millis(moments(array, zone))
    scale = 1 if unit == "micros" else 1000
    if form == "iso_datetime_string":
        return Schema.string(), lambda array: _iso(array, "" if scale == 1 else "000")
    if form == "long":
        return Schema.int64(), lambda array: _finite(moments(array, zone), scale)
    return Schema.string(), lambda a: _finite(moments(a, zone), scale).cast(pa.string())


def moments(array: Any, zone: str | None) -> Any:
    """Microseconds since 1970, with the driver's infinities in them."""
    micros = array.cast(pa.int64())
    if zone in (None, "UTC"):
        return micros
    infinite = _infinite(micros)
    known = pc.if_else(infinite, pa.scalar(0, pa.int64()), micros).cast(pa.timestamp("us"))
    placed = pc.assume_timezone(known, zone, ambiguous="earliest", nonexistent="latest")
    return pc.if_else(infinite, micros, placed.cast(pa.int64()))


def moment_texts(known: Any, form: str, more: str = "") -> Any:
    """Year, ``form`` and ``more``; years before the first one as PostgreSQL has them, with BC."""
    texts = pc.strftime(known, format=f"%Y{form}")
    ancient = pc.less(pc.year(known), 1)
    if not pc.any(ancient).as_py():
        return pc.binary_join_element_wise(texts, more, "") if more else texts
    years = pc.subtract(1, pc.year(known)).cast(pa.string())
    bc = [pc.utf8_lpad(years, 4, "0"), pc.strftime(known, format=form), more, " BC"]
    modern = pc.binary_join_element_wise(texts, more, "")
    return pc.if_else(ancient, pc.binary_join_element_wise(*bc, ""), modern)


def _infinite(micros: Any) -> Any:
    return pc.is_in(micros, pa.array([_READ_INFINITY, READ_MINUS_INFINITY]))


def _millis(micros: Any) -> Any:
    infinite = _infinite(micros)
    _refuse_overflown(micros, infinite)
    known = pc.if_else(infinite, pa.scalar(0, pa.int64()), micros).cast(pa.timestamp("us"))
    millis = known.cast(pa.timestamp("ms"), safe=False).cast(pa.int64())
    millis = pc.if_else(pc.equal(micros, _READ_INFINITY), INFINITY_MILLIS, millis)
    millis = pc.if_else(pc.equal(micros, READ_MINUS_INFINITY), MINUS_INFINITY_MILLIS, millis)
    return millis.cast(pa.timestamp("ms", tz="UTC"))


def _finite(micros: Any, scale: int) -> Any:
    """``ArrowInvalid`` for what does not fit, infinity for one."""
    infinite = _infinite(micros)
    _refuse_overflown(micros, infinite)
    if pc.any(infinite).as_py():
        raise UserError(
            "A timestamp is infinite, which has no number: set 'timestamp.granularity' to "
            "connect_logical or micros_iso_datetime_string"
        )
    return pc.multiply_checked(micros, scale) if scale != 1 else micros


def _iso(array: Any, more_digits: str) -> Any:
    micros = array.cast(pa.int64())
    infinite = _infinite(micros)
    _refuse_overflown(micros, infinite)
    known = pc.if_else(infinite, pa.scalar(0, pa.int64()), micros).cast(pa.timestamp("us"))
    texts = moment_texts(known, "-%m-%dT%H:%M:%S", more_digits)
    texts = pc.if_else(pc.equal(micros, _READ_INFINITY), "infinity", texts)
    return pc.if_else(pc.equal(micros, READ_MINUS_INFINITY), "-infinity", texts)


def _refuse_overflown(micros: Any, infinite: Any) -> None:
    overflown = pc.and_(pc.less(micros, _OLDEST_MICROS), pc.invert(infinite))
    if pc.any(overflown).as_py():
        raise UserError("A timestamp is after the year 294246, which does not fit 64 bits")


def _replaced(numbers: Any, old: int, new: int) -> Any:
    return pc.if_else(pc.equal(numbers, old), pa.scalar(new, numbers.type), numbers)
