"""JSON bodies read as Kafka Connect reads them: malformed ones get the words of Jackson.

Test suites and clients look for fragments of these texts, so they are kept letter for letter
where they are known; the class names in them are Java's for the same reason.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from penstock.runtime.errors import InternalError

A_VALUE = "(JSON String, Number, Array, Object or token 'null', 'true' or 'false')"
WANTED = {
    "Expecting property name": "was expecting double-quote to start field name",
    "Expecting ':'": "was expecting a colon to separate field name and value",
    "Expecting ','": "was expecting comma to separate Object or Array entries",
    "Illegal trailing comma": "was expecting another entry after the comma",
    "Extra data": "was expecting the end of the document",
    "Invalid control character": "has to be escaped using backslash to be included in string value",
    "Invalid \\": "is no escape sequence",
}


class Number(str):
    """A number as it was written: as a config value 1.50 stays 1.50."""

    __slots__ = ()


def parse_texts(body: bytes) -> Any:
    """Parse a body whose numbers are to become text."""
    return _parse(body, {"parse_int": Number, "parse_float": Number})


def parse_values(body: bytes) -> Any:
    """Parse a body whose numbers are numbers."""
    return _parse(body, {})


def _parse(body: bytes, numbers: dict[str, Any]) -> Any:
    text = _decode(body)
    if not text.strip():
        return None
    try:
        return json.loads(text, parse_constant=_refuse_constant, **numbers)
    except json.JSONDecodeError as error:
        raise InternalError(_describe(error)) from None
    except RecursionError:
        raise InternalError("Document nesting depth exceeds the maximum allowed") from None
    except ValueError as error:
        raise InternalError(f"Unexpected number: {error}") from None


def _decode(body: bytes) -> str:
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        text = f"Invalid UTF-8 byte 0x{body[error.start]:x} at byte {error.start + 1}"
        raise InternalError(text) from None


def _refuse_constant(name: str) -> NoReturn:
    raise InternalError(f"Unrecognized token '{name}': was expecting {A_VALUE}")


def _describe(error: json.JSONDecodeError) -> str:
    where = f"\n at [line: {error.lineno}, column: {error.colno}]"
    rest = error.doc[error.pos :]
    if error.msg.startswith("Unterminated string") or not rest:
        return f"Unexpected end-of-input: was expecting more of the document{where}"
    token = re.match(r"[A-Za-z_$][\w$]*", rest)
    if token and error.msg.startswith("Expecting value"):
        return f"Unrecognized token '{token[0][:50]}': was expecting {A_VALUE}{where}"
    return f"Unexpected character ({_character(rest[0])}): {_wanted(error.msg)}{where}"


def _character(character: str) -> str:
    shown = f"'{character}'" if character.isprintable() else "control character"
    return f"{shown} (code {ord(character)})"


def _wanted(message: str) -> str:
    fitting = (text for start, text in WANTED.items() if message.startswith(start))
    return next(fitting, f"expected a valid value {A_VALUE}")
