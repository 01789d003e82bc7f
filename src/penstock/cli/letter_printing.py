"""A dead letter, for a person and for a program; texts are cut, and no terminal obeys them."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from penstock.cli.record_printing import NULL, readable

if TYPE_CHECKING:
    from penstock.consumers.letters.letter import Letter

MOST_BYTES = 400
"""Of a key or a value."""
MOST_LETTERS = 600
"""Of a text about the error."""
_TRACE = "exception.stacktrace"


def letter_lines(letter: Letter, *, trace: bool) -> Iterator[str]:
    """For a person."""
    yield f"Letter {letter.place}{_time(letter.timestamp)}"
    for name, text in _facts(letter):
        yield _indented(name, text)
    for name, value in letter.headers:
        yield _indented(f"header {_plain(name)}", _content(value))
    if trace and (found := letter.context.get(_TRACE)):
        yield _indented("trace", "\n".join(map(_plain, found.splitlines())))
    yield ""


def letter_facts(letter: Letter, *, trace: bool) -> dict[str, Any]:
    """For a program."""
    told = letter.facts()
    if trace and _TRACE in letter.context:
        told["errors"][_TRACE] = letter.context[_TRACE]
    return {
        **told,
        "timestamp": letter.timestamp,
        "from": letter.origin(),
        **_field("key", letter.key),
        **_field("value", letter.value),
        "headers": [{"name": name, **_field("value", value)} for name, value in letter.headers],
    }


def _facts(letter: Letter) -> Iterator[tuple[str, str]]:
    context = letter.context
    yield "from", _cut(_plain(letter.origin()), MOST_LETTERS)
    if "connector.name" in context:
        yield (
            "connector",
            _plain(f"{context['connector.name']}, task {context.get('task.id', '?')}"),
        )
    if "stage" in context:
        yield "stage", _plain(f"{context['stage']}, {context.get('class.name', '?')}")
    if letter.error:
        message = context.get("exception.message", "")
        yield "error", _cut(_plain(f"{letter.error}: {message}"), MOST_LETTERS)
    yield "key", _content(letter.key)
    yield "value", _content(letter.value)


def _indented(name: str, text: str) -> str:
    return f"  {name:<10} " + text.replace("\n", "\n" + " " * 13)


def _time(milliseconds: int | None) -> str:
    if milliseconds is None:
        return ""
    try:
        return f", {datetime.fromtimestamp(milliseconds / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (OverflowError, ValueError, OSError):
        return ""


def _content(value: bytes | None) -> str:
    if value is None:
        return NULL
    if len(value) <= MOST_BYTES:
        return readable(value)
    # A character that was cut in two would make a text look like bytes.
    whole = value[:MOST_BYTES].decode(errors="ignore").encode()
    start = whole if MOST_BYTES - len(whole) < 4 else value[:MOST_BYTES]
    return f"{readable(start)} … ({len(value):,} bytes in all)"


def _field(name: str, value: bytes | None) -> dict[str, Any]:
    start = (value or b"")[: 10 * MOST_BYTES]
    cut = {f"{name}_bytes": len(value)} if value is not None and len(value) > len(start) else {}
    if value is None:
        return {name: None}
    try:
        return {name: start.decode(), **cut}
    except UnicodeDecodeError as error:
        if cut and error.start >= len(start) - 3:
            return {name: start[: error.start].decode(), **cut}
        return {name: b64encode(start).decode(), f"{name}_encoding": "base64", **cut}


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]} …"


def _plain(text: str) -> str:
    """One line in which nothing but letters is printed."""
    return "".join(each if each.isprintable() else " " for each in text)
