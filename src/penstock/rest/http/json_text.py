"""JSON bodies read as Kafka Connect reads them: malformed ones get the words of Jackson.

Test suites and clients look for fragments of these texts, so they are kept letter for letter
where they are known; the class names in them are Java's for the same reason.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from penstock.rest.http.json_prefix import value_before
from penstock.runtime.errors import InternalError

A_VALUE = "(JSON String, Number, Array, Object or token 'null', 'true' or 'false')"
CONTROL = "has to be escaped using backslash to be included in string value"
ENTRIES = {
    "Expecting property name": "was expecting double-quote to start field name",
    "Expecting ':'": "was expecting a colon to separate field name and value",
    "Expecting ','": "was expecting comma to separate {container} entries",
    "Illegal trailing comma": "was expecting double-quote to start field name",
}
TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)


class Number(str):
    """A number as it was written: as a config value 1.50 stays 1.50."""

    __slots__ = ()


class Malformed(InternalError):  # noqa: N818 (what the body is)
    """The body is not JSON; ``before`` is the value that stands before the mistake."""

    def __init__(self, message: str, before: Any) -> None:
        super().__init__(message)
        self.before = before


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
        return json.loads(
            text, parse_constant=_refuse_constant, object_hook=_let_others_run, **numbers
        )
    except json.JSONDecodeError as error:
        before = value_before(text[: error.pos], numbers)
        raise Malformed(_describe(error), before) from None
    except RecursionError:
        raise InternalError("Document nesting depth exceeds the maximum allowed") from None
    except ValueError as error:
        raise InternalError(f"Unexpected number: {error}") from None


def _decode(body: bytes) -> str:
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        where = "start" if error.reason == "invalid start byte" else "middle"
        raise InternalError(f"Invalid UTF-8 {where} byte 0x{body[error.start]:x}") from None


def _let_others_run(value: dict[str, Any]) -> dict[str, Any]:
    """Python changes threads only where there is Python to run: the parser itself is C."""
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise InternalError(
        f"Non-standard token '{name}': enable `JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS` to allow"
    )


def _describe(error: json.JSONDecodeError) -> str:
    return f"{_complaint(error)}\n at [line: {error.lineno}, column: {error.colno}]"


def _complaint(error: json.JSONDecodeError) -> str:
    rest = error.doc[error.pos :]
    if error.msg.startswith("Unterminated string"):
        return "Unexpected end-of-input in VALUE_STRING"
    if not rest.strip():
        return f"Unexpected end-of-input{_missing(error.doc)}"
    if error.msg.startswith("Invalid control character"):
        return f"Illegal unquoted character ((CTRL-CHAR, code {ord(rest[0])})): {CONTROL}"
    if error.msg.startswith("Invalid \\escape"):
        return f"Unrecognized character escape {_character(rest[1:2] or rest)}"
    if re.search(r"(?<![0-9.eE+])-?0$", error.doc[: error.pos]) and rest[0].isdigit():
        return "Invalid numeric value: Leading zeroes not allowed"
    return _unexpected(error, rest)


def _unexpected(error: json.JSONDecodeError, rest: str) -> str:
    token = re.match(r"[A-Za-z_$][\w$]*", rest)
    if token and error.msg.startswith(("Expecting value", "Extra data")):
        return f"Unrecognized token '{token[0][:50]}': was expecting {A_VALUE}"
    fitting = (text for start, text in ENTRIES.items() if error.msg.startswith(start))
    wanted = next(fitting, f"expected a valid value {A_VALUE}")
    container = _container(error.doc[: error.pos])
    return f"Unexpected character ({_character(rest[0])}): {wanted.format(container=container)}"


def _missing(text: str) -> str:
    """What an unfinished document lacks."""
    container = _container(text)
    if text.rstrip().endswith((":", ",")):
        return f" within/between {container} entries"
    return f": expected close marker for {container}"


def _container(text: str) -> str:
    """What ``text`` ends inside of."""
    opened: list[str] = []
    for bracket in TOKENS.findall(text):
        if bracket in "[{":
            opened.append(bracket)
        elif bracket in "]}" and opened:
            opened.pop()
    return "Array" if opened and opened[-1] == "[" else "Object"


def _character(character: str) -> str:
    shown = f"'{character}'" if character.isprintable() else "control character"
    return f"{shown} (code {ord(character)})"
