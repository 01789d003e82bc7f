"""Texts that match a regular expression."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from itertools import product
from re import _constants as ops
from re import _parser
from typing import Any, Final

MOST: Final = 50_000
"""How many different texts an expression may have."""
UNBOUNDED: Final = 3
"""How often ``*`` and ``+`` repeat at the most."""


def matching_texts(expression: str) -> list[str]:
    """All texts that match, in a fixed order; ValueError if there are too many, or unknown parts.

    A star or plus repeats at most three times.
    """
    try:
        return _sequence(list(_parser.parse(expression)))
    except re.error as error:
        raise ValueError(f"the regex {expression} is invalid: {error}") from None


def _sequence(parts: Sequence[Any]) -> list[str]:
    choices = [_part(op, argument) for op, argument in parts]
    count = 1
    for choice in choices:
        count *= len(choice)
    if count > MOST:
        raise ValueError(
            f"the regex matches {count} texts, and at most {MOST} are possible: make it narrower, "
            "or use 'length' for random text"
        )
    return ["".join(texts) for texts in product(*choices)]


def _part(op: Any, argument: Any) -> list[str]:
    if op is ops.LITERAL:
        return [chr(argument)]
    if op is ops.IN:
        return _class(argument)
    if op is ops.MAX_REPEAT or op is ops.MIN_REPEAT:
        return _repeated(*argument)
    if op is ops.SUBPATTERN:
        return _sequence(list(argument[-1]))
    if op is ops.BRANCH:
        return [text for branch in argument[1] for text in _sequence(list(branch))]
    if op is ops.ANY:
        return list(string.ascii_letters + string.digits)
    raise ValueError(f"the regex uses {str(op).lower()}, which is not supported")


def _repeated(least: int, most: Any, inner: Any) -> list[str]:
    bounded = least + UNBOUNDED if most is ops.MAXREPEAT else int(most)
    return [text for times in range(least, bounded + 1) for text in _sequence(list(inner) * times)]


def _class(members: Sequence[Any]) -> list[str]:
    found: list[str] = []
    for op, argument in members:
        if op is ops.LITERAL:
            found.append(chr(argument))
        elif op is ops.RANGE:
            found += [chr(code) for code in range(argument[0], argument[1] + 1)]
        elif op is ops.CATEGORY and argument in _CATEGORIES:
            found += _CATEGORIES[argument]
        else:
            raise ValueError(f"the regex uses {str(op).lower()}, which is not supported")
    return found


_CATEGORIES: Final[dict[Any, list[str]]] = {
    ops.CATEGORY_DIGIT: list(string.digits),
    ops.CATEGORY_WORD: list(string.ascii_letters + string.digits + "_"),
}
