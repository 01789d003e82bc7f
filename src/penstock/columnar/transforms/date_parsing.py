"""Text to moments, as a lenient SimpleDateFormat reads it: columns at a time."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import compute

from penstock.columnar.json_text import Misfit
from penstock.columnar.transforms.date_patterns import DAYS, MONTHS, Field, Token

_Numbers = npt.NDArray[np.int64]
_HOUR: Final = 3_600_000
_FIRST: Final = {"y": 1970, "M": 1, "d": 1}


def parsed(texts: pa.Array, pattern: Sequence[Token], shown: str) -> pa.Array:
    """Milliseconds since the epoch; ``Misfit`` if a text does not begin as ``pattern`` says.

    As in Java, months, days and hours may be too large, and text may follow.
    """
    found = compute.extract_regex(texts, "(?is)^" + _regex(pattern))
    if found.null_count > texts.null_count:
        raise Misfit(_no_match(texts, found, shown))
    columns = {_letter(pattern, n): column for n, column in enumerate(found.flatten())}
    moments = _moments({name: _read(name, column) for name, column in columns.items()})
    if moments.shape != (len(texts),):
        moments = np.broadcast_to(moments, (len(texts),))
    made = pa.array(moments, pa.int64())
    return compute.if_else(texts.is_valid(), made, None) if texts.null_count else made


def _no_match(texts: pa.Array, found: pa.Array, shown: str) -> str:
    bad = texts.filter(compute.and_(texts.is_valid(), found.is_null()))[0].as_py()
    return f"Could not parse timestamp: value ({bad}) does not match pattern ({shown})"


def _letter(pattern: Sequence[Token], number: int) -> str:
    """What the n-th group holds; the name of a month is ``L`` and a short year ``Y``."""
    field = [token for token in pattern if isinstance(token, Field)][number]
    if field.letter == "M" and not field.numeric:
        return "L"
    return "Y" if field.letter == "y" and field.count < 3 else field.letter


def _regex(pattern: Sequence[Token]) -> str:
    number, pieces = 0, []
    for token, following in pairwise([*pattern, ""]):
        if isinstance(token, Field):
            abuts = isinstance(following, Field) and following.numeric and token.numeric
            pieces.append(f"[ \\t]*(?P<f{number}>{_expression(token, abuts)})")
            number += 1
        else:
            pieces.append(f"(?-i:{re.escape(token)})")
    return "".join(pieces) if number else "".join(pieces) + "(?P<f0>)"


def _expression(field: Field, abuts: bool) -> str:
    if field.numeric:
        return f"[0-9]{{{field.count}}}" if abuts else "[0-9]+"
    if field.letter == "M":
        return _names(MONTHS)
    return _EXPRESSIONS.get(field.letter) or _offsets(field.count)


def _names(names: Sequence[str]) -> str:
    return "|".join([*names, *(name[:3] for name in names)])


def _offsets(count: int) -> str:
    return "Z|" + ("[+-][0-9]{2}", "[+-][0-9]{4}", "[+-][0-9]{2}:[0-9]{2}")[min(count, 3) - 1]


_ZONES: Final = "(?:UTC|GMT)(?:[+-][0-9]{1,2}:[0-9]{2})?|Z|[+-][0-9]{4}"
_EXPRESSIONS: Final = {"E": _names(DAYS), "a": "AM|PM", "G": "AD", "z": _ZONES, "Z": _ZONES}


def _read(letter: str, column: pa.Array) -> _Numbers:
    match letter:
        case "L":
            return _mapped(column, lambda text: _MONTH_NUMBERS[text[:3].lower()])
        case "a":
            return _mapped(column, lambda text: int(text.upper() == "PM"))
        case "z" | "Z" | "X":
            return _mapped(column, _offset)
        case "Y":
            return _mapped(column, _short_year)
        case "E" | "G":
            return np.zeros(len(column), np.int64)
        case _:
            return _integers(column)


def _integers(column: pa.Array) -> _Numbers:
    """The lowest 32 bits, as Java takes them."""
    try:
        numbers = np.asarray(column.fill_null("0").cast(pa.int64()))
    except pa.ArrowInvalid:
        raise Misfit("Could not parse timestamp: a number has too many digits") from None
    return numbers.astype(np.int32).astype(np.int64)


_MONTH_NUMBERS: Final = {name[:3].lower(): n for n, name in enumerate(MONTHS, 1)}


def _mapped(column: pa.Array, read: Any) -> _Numbers:
    """Each different text is read once."""
    coded = column.dictionary_encode()
    values = [0 if text is None else read(text) for text in coded.dictionary.to_pylist()]
    indices = np.asarray(coded.indices.fill_null(0))
    mapped: _Numbers = np.array(values or [0], np.int64)[indices]
    return mapped


def _offset(text: str) -> int:
    match = re.search(r"([+-])([0-9]{1,2}):?([0-9]{2})?$", text)
    if match is None:
        return 0
    size = int(match[2]) * _HOUR + int(match[3] or 0) * 60_000
    return size if match[1] == "+" else -size


def _short_year(text: str) -> int:
    """Two digits are a year between 80 years ago and 20 years from now."""
    if len(text) != 2:
        return int(text)
    first = dt.datetime.now(dt.UTC).year - 80
    return first + (int(text) - first) % 100


def _midnight(hours: Any, last: int) -> Any:
    """Clocks that begin with one o'clock call midnight by their last number."""
    return np.where(np.asarray(hours) == last, 0, hours)


def _moments(parts: Mapping[str, _Numbers]) -> _Numbers:
    def part(letter: str) -> Any:
        return parts.get(letter, _FIRST.get(letter, 0))

    year, month = parts.get("Y", part("y")), parts.get("L", part("M"))
    months = (np.asarray(year, np.int64) - 1970) * 12 + month - 1
    first = months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    day = parts["D"] if "D" in parts and "d" not in parts else part("d")
    from_one = _midnight(part("k"), 24) + _midnight(part("h"), 12)
    hour = part("H") + part("K") + from_one + 12 * part("a")
    clock = hour * _HOUR + part("m") * 60_000 + part("s") * 1000 + part("S")
    zone = part("z") + part("Z") + part("X")
    moments: _Numbers = (first + day - 1) * 24 * _HOUR + clock - zone
    return moments
