"""Records by a template: `{{offset}} {{key}} {{value}}`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import typer

from penstock.cli.record_printing import Printer, readable

if TYPE_CHECKING:
    from penstock.consumers.reading.record import Record

_WORD = re.compile(r"\{\{(.*?)\}\}")


def rfc3339(time: datetime | None) -> str:
    """A time in UTC to the millisecond; NA where there is none."""
    if time is None:
        return "NA"
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _headers(record: Record) -> str:
    return ",".join(f"{name}={readable(value)}" for name, value in record.headers)


WORDS: Mapping[str, Callable[[Record], str]] = {
    "offset": lambda record: str(record.offset),
    "key": lambda record: readable(record.key),
    "value": lambda record: readable(record.value),
    "partition": lambda record: str(record.partition),
    "time": lambda record: rfc3339(record.time),
    "headers": _headers,
    "topic": lambda record: record.topic,
}


def template_printer(template: str) -> Printer:
    """Prints each record by the template, and a line feed; wrong usage if it names what is not."""
    # Every second part is a word.
    parts = _WORD.split(template)
    literals, words = parts[::2], [_word(name) for name in parts[1::2]]

    def one(record: Record) -> str:
        shown = [word(record) for word in words]
        pairs = zip(literals, [*shown, "\n"], strict=True)
        return "".join(piece for pair in pairs for piece in pair)

    def print_records(records: Sequence[Record]) -> bytes:
        return "".join(map(one, records)).encode(errors="surrogateescape")

    return print_records


def _word(name: str) -> Callable[[Record], str]:
    found = WORDS.get(name.strip())
    if found is None:
        allowed = ", ".join(f"{{{{{word}}}}}" for word in WORDS)
        raise typer.BadParameter(
            f"-F cannot show {{{{{name}}}}}: a template may have {allowed} in it."
        )
    return found
