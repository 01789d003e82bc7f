"""As much of a malformed JSON document as was read before it went wrong.

Jackson complains of whatever it meets first: in ``[1`` an array where an object was wanted comes
before the missing bracket. Python parses the whole text first, so what stands before the mistake
is completed here and looked at again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[\[\]{}:,]|[^\s\[\]{}:,"]+)', re.DOTALL)
CLOSING = {"[": "]", "{": "}"}


def value_before(text: str, numbers: Mapping[str, Any]) -> Any:
    """The value that ``text``, the part before a mistake, holds once its brackets are closed.

    None if it holds none yet. ``numbers`` says how the parser makes numbers.
    """
    whole, opened = _whole_part(text)
    closing = "".join(CLOSING[bracket] for bracket in reversed(opened))
    try:
        return json.loads(whole + closing, **numbers)
    except (ValueError, RecursionError):
        return None


def _whole_part(text: str) -> tuple[str, list[str]]:
    """``text`` without the member it breaks off in, and the brackets that are open there."""
    opened: list[str] = []
    end, kept = 0, []
    before = ""
    for token in TOKEN.finditer(text):
        mark = token[1]
        if mark in CLOSING:
            opened.append(mark)
        elif mark in CLOSING.values() and opened:
            opened.pop()
        if _is_whole(mark, before, opened):
            end, kept = token.end(), list(opened)
        before = mark
    return text[:end], kept


def _is_whole(mark: str, before: str, opened: list[str]) -> bool:
    """Whether a document may be cut behind ``mark``: not after a key, a colon or a comma."""
    if mark in ":,":
        return False
    in_object = bool(opened) and opened[-1] == "{"
    return mark in "[]{}" or not in_object or before == ":"
