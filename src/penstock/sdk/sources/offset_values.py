"""What a source partition or offset may hold: what comes back from the offset store as it was."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, NoReturn

from penstock.sdk.errors import OffsetError

_LONG: Final = 1 << 63


def checked(properties: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of ``properties``; OffsetError names the key of a value that cannot be stored."""
    for name, value in properties.items():
        check(name, value)
    return dict(properties)


def check(name: str, value: Any) -> None:
    """OffsetError unless ``value`` may be stored under ``name``.

    Offsets are kept as JSON: text, whole numbers of 64 bits, finite numbers, booleans and null.
    Anything nested is refused as Kafka Connect refuses it, and so are bytes, which would come back
    as text.
    """
    if not isinstance(name, str):
        raise OffsetError(f"A key of an offset must be text, and {name!r} is not.")
    _check_text(name, name)
    match value:
        case None | bool():
            return
        case int():
            if not -_LONG <= value < _LONG:
                _refuse(name, "it does not fit into 64 bits")
        case float():
            if not math.isfinite(value):
                _refuse(name, f"{value} cannot be written as JSON")
        case str():
            _check_text(name, value)
        case _:
            kind = type(value).__name__
            _refuse(name, f"a value of type {kind} does not come back as it was")


def _check_text(name: str, text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        _refuse(name, "it holds half of a surrogate pair, which is not UTF-8")


def _refuse(name: str, why: str) -> NoReturn:
    raise OffsetError(
        f"The offset store cannot hold the value of {name!a}: {why}. Use text, numbers of up "
        "to 64 bits, booleans or None."
    )
