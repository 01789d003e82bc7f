"""Numbers as Java reads, narrows and prints them, one at a time."""

from __future__ import annotations

import math
import re
from decimal import Decimal, InvalidOperation
from typing import Final

import numpy as np

from penstock.columnar.json_text import Misfit

_INTEGER: Final = re.compile(r"[+-]?\d+")
_FLOAT: Final = re.compile(
    r"([+-]?)(NaN|Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)[fFdD]?"
)
_TRIMMED: Final = "".join(map(chr, range(0x21)))


def narrowed(number: int, bits: int) -> int:
    """The lowest ``bits`` bits, as a signed number: Java's narrowing of integers."""
    return ((number + (1 << (bits - 1))) & ((1 << bits) - 1)) - (1 << (bits - 1))


def truncated(number: float, bits: int) -> int:
    """Java's narrowing of floating point numbers: to int or long with saturation, then on."""
    wide = 64 if bits == 64 else 32
    if math.isnan(number):
        return 0
    limit = 1 << (wide - 1)
    whole = (limit if number > 0 else -limit) if math.isinf(number) else int(number)
    return narrowed(max(-limit, min(limit - 1, whole)), bits)


def parsed_integer(text: str, bits: int) -> int:
    """Java's ``parseInt`` and its like; ``Misfit`` if the text is not such a number."""
    limit = 1 << (bits - 1)
    if not _INTEGER.fullmatch(text) or not -limit <= int(text) < limit:
        raise Misfit(f"Value ({text}) was out of range for requested data type")
    return int(text)


def parsed_float(text: str) -> float:
    """Java's ``parseDouble``; ``Misfit`` if the text is not a number."""
    match = _FLOAT.fullmatch(text.strip(_TRIMMED))
    if match is None:
        raise Misfit(f"Value ({text}) was out of range for requested data type")
    return float(match[1] + match[2])


def long_of(text: str) -> int:
    """Kafka Connect's conversion of text to a long: any number, cut off at the point."""
    return narrowed(int(decimal_of(text)), 64)


def double_of(text: str) -> float:
    """Kafka Connect's conversion of text to a double."""
    return float(decimal_of(text))


def decimal_of(text: str, wanted: str = "a number") -> Decimal:
    """Kafka Connect's conversion of text to a decimal; ``Misfit`` if it is not what is wanted."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite():
        raise Misfit(f"Unable to convert {text} (class java.lang.String) to {wanted}")
    return number


def single(number: float) -> float:
    """The number of single precision that is nearest, as Java would print it."""
    with np.errstate(over="ignore"):
        near = np.float32(number)
    return float(str(near)) if np.isfinite(near) else float(near)
