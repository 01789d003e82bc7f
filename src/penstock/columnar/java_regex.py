"""Java's regular expressions in Python's terms, as far as the two can meet."""

from __future__ import annotations

import re
from typing import Any, Final

from penstock.sdk.config import invalid_value

_NAME: Final = "([A-Za-z][A-Za-z0-9]*)"
_JAVAS: Final = re.compile(
    rf"\\Q(.*?)(?:\\E|\Z)|\\k<{_NAME}>|\(\?<{_NAME}>|\\.",
    re.DOTALL,
)
_REFERENCE: Final = re.compile(r"\\(.)|\$(\d+)|\$\{([A-Za-z][A-Za-z0-9]*)\}|(\$|\\$)", re.DOTALL)


def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern written for Java; quoted text and named groups are spelled otherwise in Python."""
    return re.compile(_JAVAS.sub(_in_python, pattern))


def _in_python(found: re.Match[str]) -> str:
    quoted, used, named = found.groups()
    if quoted is not None:
        return re.escape(quoted)
    if used or named:
        return f"(?P={used})" if used else f"(?P<{named}>"
    return found[0]


def java_regex(name: str, value: Any) -> None:
    """Validator: a regular expression, written for Java, that can be used here."""
    try:
        compiled(value or "")
    except re.error as error:
        raise invalid_value(name, value, f"Invalid regex: {error}") from None


def replaced_first(pattern: re.Pattern[str], replacement: str, text: str) -> str:
    """Java's ``Matcher.replaceFirst``: ``$1`` and ``${name}`` are groups, a backslash quotes."""
    return pattern.sub(lambda match: _expanded(replacement, match), text, count=1)


def _expanded(replacement: str, match: re.Match[str]) -> str:
    return _REFERENCE.sub(lambda reference: _one(reference, match), replacement)


def _one(reference: re.Match[str], match: re.Match[str]) -> str:
    quoted, number, name, stray = reference.groups()
    if quoted is not None:
        return str(quoted)
    if stray is not None:
        raise ValueError(f"{stray} at the wrong place: write it as \\{stray}")
    return _numbered(number, match) if number else match[name] or ""


def _numbered(digits: str, match: re.Match[str]) -> str:
    """Java takes as many digits as still name a group; the first always counts."""
    used = 1
    while used < len(digits) and int(digits[: used + 1]) <= match.re.groups:
        used += 1
    return (match[int(digits[:used])] or "") + digits[used:]
