"""Records as bytes for standard output, a whole batch at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.consumers.reading.record import Record

Printer = Callable[[Sequence["Record"]], bytes]
"""What to write for a batch of records, in their order."""


class Form(StrEnum):
    """How records are printed."""

    DYNAMIC = "dynamic"
    TEXT = "text"
    JSONL = "jsonl"
    RAW = "raw"
    TABLE = "table"


NULL = "null"
# Control characters but tab and line ends: a terminal might obey them.
_CONTROL = bytes({*range(0x20), 0x7F} - set(b"\t\n\r"))
# The others that there are, as UTF-8 has them.
_FURTHER_CONTROL = re.compile(rb"\xc2[\x80-\x9f]")
_WIDTH = 16


def printer(form: Form, *, keys: bool = False, template: str | None = None) -> Printer:
    """Prints in this form; a ``template`` takes its place, ``keys`` puts keys before values."""
    if template is not None:
        from penstock.cli.record_template import template_printer

        return template_printer(template)
    if form is Form.JSONL:
        from penstock.cli.record_json import print_as_json

        return print_as_json
    if form is Form.TABLE:
        from penstock.cli.record_table import TablePrinter

        return TablePrinter()
    if keys:
        return _with_keys(readable if form is Form.DYNAMIC else text)
    return {Form.RAW: print_raw, Form.TEXT: print_text}.get(form, print_dynamic)


def print_raw(records: Sequence[Record]) -> bytes:
    """Values as they are, each with a line feed."""
    return b"\n".join([*[record.value or b"" for record in records], b""])


def print_text(records: Sequence[Record]) -> bytes:
    """Values as UTF-8; what is none is replaced."""
    return _joined(records, text)


def print_dynamic(records: Sequence[Record]) -> bytes:
    """Values as text, or as a dump where they are none."""
    return _joined(records, readable)


def _joined(records: Sequence[Record], form: Callable[[bytes | None], str]) -> bytes:
    plain = [record.value for record in records]
    values = [value for value in plain if value is not None]
    together = b"\n".join([*values, b""])
    # Mostly all of them are text, which one look at the whole batch tells.
    if len(values) == len(plain) and is_text(together):
        return together
    return "".join(f"{form(value)}\n" for value in plain).encode()


def _with_keys(form: Callable[[bytes | None], str]) -> Printer:
    def print_pairs(records: Sequence[Record]) -> bytes:
        pairs = ((record.key, record.value) for record in records)
        return "".join(f"[{readable(key)}] {form(value)}\n" for key, value in pairs).encode()

    return print_pairs


def is_text(value: bytes) -> bool:
    """Whether a person can read it, and a terminal shows it without obeying it."""
    if len(value.translate(None, _CONTROL)) < len(value):
        return False
    if value.isascii():
        return True
    if _FURTHER_CONTROL.search(value):
        return False
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def text(value: bytes | None) -> str:
    """As UTF-8; what is none is replaced."""
    return NULL if value is None else value.decode(errors="replace")


def readable(value: bytes | None) -> str:
    """Text as it is, anything else as a dump of its bytes."""
    if value is None:
        return NULL
    return value.decode() if is_text(value) else "\n".join(_dumped(value))


def _dumped(value: bytes) -> Iterator[str]:
    """Where, which bytes, and those of them that can be printed."""
    for at in range(0, len(value), _WIDTH):
        part = value[at : at + _WIDTH]
        shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)
        yield f"{at:08x}  {part.hex(' '):<{3 * _WIDTH - 1}}  |{shown}|"
