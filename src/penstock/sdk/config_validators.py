"""Ready validators for ``ConfigKey``, with Kafka's error texts.

Each is, or makes, a callable ``(name, value) -> None`` that raises ``ConfigError``. A value of
None passes: a key that must be set says so by having no default.
"""

from __future__ import annotations

import re
from typing import Any

from penstock.sdk.config import Validator, invalid_value


def at_least(low: float) -> Validator:
    """A number that is not below ``low``."""

    def check(name: str, value: Any) -> None:
        if value is not None and value < low:
            raise invalid_value(name, value, f"Value must be at least {low}")

    return check


def between(low: float, high: float) -> Validator:
    """A number from ``low`` to ``high``, both included."""

    def check(name: str, value: Any) -> None:
        at_least(low)(name, value)
        if value is not None and value > high:
            raise invalid_value(name, value, f"Value must be no more than {high}")

    return check


def one_of(*allowed: str) -> Validator:
    """One of these texts."""

    def check(name: str, value: Any) -> None:
        if value is not None and value not in allowed:
            raise invalid_value(name, value, f"String must be one of: {', '.join(allowed)}")

    return check


def one_of_ignoring_case(*allowed: str) -> Validator:
    """One of these texts, in capitals or not."""
    lowered = {text.lower() for text in allowed}
    why = f"String must be one of (case insensitive): {', '.join(allowed)}"

    def check(name: str, value: Any) -> None:
        if value is not None and value.lower() not in lowered:
            raise invalid_value(name, value, why)

    return check


def non_empty(name: str, value: Any) -> None:
    """A text, or a list, with something in it."""
    if value is not None and not value:
        kind = "List" if isinstance(value, list | tuple) else "String"
        raise invalid_value(name, value, f"{kind} must be non-empty")


def absolute_paths(name: str, value: Any) -> None:
    """A list with something in it, all of which are absolute paths."""
    non_empty(name, value)
    for path in value or ():
        if not path.startswith("/"):
            raise invalid_value(name, path, "Paths must begin with /")


def no_control_characters(name: str, value: Any) -> None:
    """A non-empty text without control characters, as a connector's name must be."""
    if value is None:
        return
    if not value:
        raise invalid_value(name, value, "String may not be empty")
    found = [str(ord(c)) for c in value if ord(c) < 0x20 or 0x7F <= ord(c) < 0xA0]
    if found:
        why = "String may not contain control sequences but had the following ASCII chars: "
        raise invalid_value(name, value, why + ", ".join(found))


def unique_aliases(name: str, value: Any) -> None:
    """A list in which nothing is twice."""
    if value is not None and len(set(value)) < len(value):
        raise invalid_value(name, value, "Duplicate alias provided.")


def regex(name: str, value: Any) -> None:
    """A text that is a regular expression."""
    try:
        re.compile(value or "")
    except re.error as error:
        raise invalid_value(name, value, f"Invalid regex: {error}") from None
