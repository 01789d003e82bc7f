"""Values of INSERT, of the REST API and of ASSERT, as the types of their columns have them."""

from __future__ import annotations

import base64
from datetime import UTC, date, datetime
from decimal import Decimal, localcontext
from typing import Any

from penstock.sql.errors import StatementError, nearest
from penstock.sql.statements.types import SqlType

FITTING: dict[str, tuple[type, ...]] = {
    "BOOLEAN": (bool,),
    "INTEGER": (int,),
    "BIGINT": (int,),
    "DOUBLE": (int, float, Decimal),
    "DECIMAL": (int, float, Decimal),
    "VARCHAR": (str,),
    "ARRAY": (list,),
    "MAP": (dict,),
    "STRUCT": (dict,),
    "TIMESTAMP": (int,),
    "DATE": (int,),
}
"""Types that are not here are given as text."""
BITS = {"INTEGER": 31, "BIGINT": 63}
WHOLE = 38, 0
"""What a DECIMAL without a precision is."""
EPOCH = date(1970, 1, 1)


def fitted(name: str, value: Any, kind: SqlType) -> Any:
    """The value of column ``name``; StatementError if it is of another type, or too large for it.

    What is stored could not be read otherwise, or would be lost.
    """
    if value is None:
        return None
    if kind.name in ("TIMESTAMP", "DATE") and isinstance(value, str):
        return _time(name, value, kind)
    fits = FITTING.get(kind.name, (str,))
    if not isinstance(value, fits) or (isinstance(value, bool) and bool not in fits):
        raise StatementError(f"{name} is {kind}: {value!r} does not fit.")
    if kind.name == "BYTES" and not _is_base64(value):
        raise StatementError(f"{name} is BYTES: {value!r} does not fit. Write it in base64.")
    if kind.name in BITS and not _is_small(value, BITS[kind.name]):
        raise StatementError(f"{name} is {kind}: {value} is too large.")
    if kind.name == "DECIMAL" and not _has_places(value, *(kind.precision or WHOLE)):
        raise StatementError(f"{name} is {kind}: {value} is too large.")
    if isinstance(value, Decimal) and kind.name == "DOUBLE":
        return float(value)
    return _inside(name, value, kind)


def _is_small(number: Any, bits: int) -> bool:
    return bool(-(1 << bits) <= number < 1 << bits)


def _is_base64(text: Any) -> bool:
    try:
        return bool(base64.b64decode(text, validate=True)) or not text
    except ValueError:
        return False


def _has_places(number: Any, precision: int, scale: int) -> bool:
    """Whether all places before the point are there; those behind it are rounded."""
    given = Decimal(str(number))
    if not given.is_finite():
        return False
    with localcontext(prec=max(given.adjusted(), 0) + precision + scale + 2):
        return abs(round(given, scale)) < Decimal(10) ** (precision - scale)


def _inside(name: str, value: Any, kind: SqlType) -> Any:
    if kind.name == "ARRAY":
        return [fitted(f"{name}[{n}]", each, kind.arguments[0]) for n, each in enumerate(value, 1)]
    if kind.name == "MAP":
        return {k: fitted(f"{name}['{k}']", v, kind.arguments[1]) for k, v in value.items()}
    return _struct(name, value, kind) if kind.name == "STRUCT" else value


def _struct(name: str, value: dict[str, Any], kind: SqlType) -> dict[str, Any]:
    types = {field.upper(): each for field, each in kind.fields}
    if unknown := next((each for each in value if each.upper() not in types), None):
        hint = nearest(unknown, types)
        raise StatementError(f"{name} is {kind}: it has no field {unknown}.{hint}")
    return {n: fitted(f"{name}->{n}", each, types[n.upper()]) for n, each in value.items()}


def _time(name: str, value: str, kind: SqlType) -> int:
    """Days or milliseconds of a text in ISO's form; without a zone it is in UTC."""
    try:
        if kind.name == "DATE":
            return (date.fromisoformat(value) - EPOCH).days
        moment = datetime.fromisoformat(value)
    except ValueError:
        example = "2026-01-31" if kind.name == "DATE" else "2026-01-31T12:00:00"
        raise StatementError(
            f"{name} is {kind}: {value!r} does not fit. Write it as '{example}'."
        ) from None
    at = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return round(at.timestamp() * 1000)
