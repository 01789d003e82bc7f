"""Patterns of Java's SimpleDateFormat, in UTC and English: columns of moments to text and back."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
from pyarrow import compute

from penstock.columnar.json_text import Misfit

MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
DAYS: Final = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
NUMERIC: Final = "yMdDHkKhmsSu"
LAST: Final = 971_890_876_800_000
"""The last moment, in milliseconds since the epoch, whose year Arrow finds."""
LETTERS: Final = NUMERIC + "EaGzZX"


@dataclass(frozen=True)
class Field:
    """A letter of the pattern, and how often it stands there."""

    letter: str
    count: int

    @property
    def numeric(self) -> bool:
        """Whether it is written in digits."""
        return self.letter in NUMERIC and not (self.letter == "M" and self.count > 2)


Token = Field | str


def tokens(pattern: str) -> list[Token]:
    """Fields and the literal texts between them; ``ValueError`` says what cannot be used."""
    found: list[Token] = []
    for match in _TOKEN.finditer(pattern):
        quoted, letters, other = match.groups()
        if letters:
            if letters[0] not in LETTERS:
                raise ValueError(f"Illegal or unsupported pattern character '{letters[0]}'")
            found.append(Field(letters[0], len(letters)))
        elif quoted == "'":
            raise ValueError("Unterminated quote")
        else:
            found.append(_unquoted(quoted) if quoted else other)
    return found


_RUNS: Final = "|".join(f"{letter}+" for letter in string.ascii_letters)
_TOKEN: Final = re.compile(rf"('(?:[^']|'')*'|')|({_RUNS})|([^A-Za-z']+)", re.DOTALL)


def _unquoted(text: str) -> str:
    return "'" if text == "''" else text[1:-1].replace("''", "'")


def formatted(moments: pa.Array, pattern: Sequence[Token]) -> pa.Array:
    """The text of every moment, given in milliseconds since the epoch; null stays null.

    ``Misfit`` if a year is beyond those that Arrow knows.
    """
    if compute.any(compute.greater(compute.abs_checked(moments), LAST)).as_py():
        raise Misfit("a timestamp is beyond the year 32767")
    stamps = moments.cast(pa.timestamp("ms"))
    pieces = [t if isinstance(t, str) else _WRITERS[t.letter](stamps, t.count) for t in pattern]
    text = compute.binary_join_element_wise(*pieces, "", "")
    return text if isinstance(text, pa.Array) else _repeated(text.as_py(), moments)


def _repeated(text: str, like: pa.Array) -> pa.Array:
    """A pattern without any field."""
    return compute.if_else(like.is_valid(), text, pa.scalar(None, pa.string()))


_Writer = Callable[[pa.Array, int], pa.Array]


def _padded(numbers: pa.Array, width: int) -> pa.Array:
    return compute.utf8_lpad(numbers.cast(pa.string()), width, "0")


def _number(read: Callable[[pa.Array], pa.Array]) -> _Writer:
    return lambda stamps, count: _padded(read(stamps), count)


def _chosen(names: Sequence[str], numbers: pa.Array, count: int) -> pa.Array:
    shown = names if count > 3 else [name[:3] for name in names]
    return pa.array(shown).take(numbers)


def _year(stamps: pa.Array, count: int) -> pa.Array:
    years = compute.year(stamps)
    return _padded(_modulo(years, 100) if count == 2 else years, count)


def _month(stamps: pa.Array, count: int) -> pa.Array:
    months = compute.month(stamps)
    if count < 3:
        return _padded(months, count)
    return _chosen(MONTHS, compute.subtract(months, 1), count)


def _modulo(numbers: pa.Array, by: int) -> pa.Array:
    return compute.subtract(numbers, compute.multiply(compute.divide(numbers, by), by))


def _hour(by: int, least: int) -> Callable[[pa.Array], pa.Array]:
    """Hours of a clock with ``by`` of them, whose midnight is 0 or, if ``least`` is 1, ``by``."""

    def read(stamps: pa.Array) -> pa.Array:
        hours = _modulo(compute.hour(stamps), by)
        return compute.if_else(compute.equal(hours, 0), by, hours) if least else hours

    return read


def _half(stamps: pa.Array, _count: int) -> pa.Array:
    return compute.if_else(compute.less(compute.hour(stamps), 12), "AM", "PM")


def _fixed(short: str, long: str = "") -> _Writer:
    return lambda stamps, count: _repeated(long if long and count > 3 else short, stamps)


_WRITERS: Final[dict[str, _Writer]] = {
    "y": _year,
    "M": _month,
    "d": _number(compute.day),
    "D": _number(compute.day_of_year),
    "H": _number(compute.hour),
    "k": _number(_hour(24, 1)),
    "K": _number(_hour(12, 0)),
    "h": _number(_hour(12, 1)),
    "m": _number(compute.minute),
    "s": _number(compute.second),
    "S": _number(compute.millisecond),
    "u": _number(lambda stamps: compute.add(compute.day_of_week(stamps), 1)),
    "E": lambda stamps, count: _chosen(DAYS, compute.day_of_week(stamps), count),
    "a": _half,
    "G": _fixed("AD"),
    "z": _fixed("UTC", "Coordinated Universal Time"),
    "Z": _fixed("+0000"),
    "X": _fixed("Z"),
}
