"""``json``: one array, each element of which is a record."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, Final

import orjson

from penstock.sdk.transformers.json_lines import JsonLinesTransformer
from penstock.sdk.transformers.parts import in_parts
from penstock.sdk.transformers.streams import LONGEST_LINE, CorruptStream, line_blocks

MOST_ELEMENTS: Final = 10_000
_STRING: Final = re.compile(rb'"(?:[^"\\]|\\.)*"')
_OPENING: Final = re.compile(rb"[\[{]")
_CLOSING: Final = re.compile(rb"[\]}]")


class JsonArrayTransformer(JsonLinesTransformer):
    """Any JSON values, without a schema.

    The array is cut where a line ends behind a comma, which in JSON is never inside of a text. So
    one with a line or more for each element streams; elements that share a line are in memory
    together.
    """

    def lines_of(self, block: list[bytes]) -> list[bytes]:
        """All of them: they are elements already."""
        return block

    def blocks(self, stream: BinaryIO) -> Iterator[list[bytes]]:
        """Elements, some at a time; CorruptStream if it is not an array, or has no end."""
        elements = _Elements()
        for lines in line_blocks(stream):
            yield from in_parts(elements.take(lines), MOST_ELEMENTS)
        elements.check_end()


class _Elements:
    """Elements of an array, as its lines come in."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = self._depth = 0
        self._begun = self._ended = False

    def take(self, lines: list[bytes]) -> Iterator[bytes]:
        """Those that are complete with these lines."""
        for line in lines:
            text = line.strip()
            if text and not self._begun:
                text = self._opened(text)
            if text:
                yield from self._line(text)

    def check_end(self) -> None:
        """Nothing comes any more."""
        if self._begun and not self._ended:
            raise CorruptStream("its array is cut off")

    def _opened(self, text: bytes) -> bytes:
        if not text.startswith(b"["):
            raise CorruptStream("it is not a JSON array")
        self._begun = True
        return text[1:].lstrip()

    def _line(self, text: bytes) -> Iterator[bytes]:
        if self._ended:
            raise CorruptStream("there is something after its array")
        if not self._parts and text.endswith(b",") and _is_json(text[:-1]):
            yield text[:-1]
            return
        self._add(text)
        if self._depth < 0:
            yield from self._last()
        elif self._depth == 0 and text.endswith(b","):
            yield from self._complete(comma=True)

    def _add(self, text: bytes) -> None:
        self._parts.append(text)
        self._size += len(text)
        if self._size > LONGEST_LINE:
            raise CorruptStream(f"an element is longer than {LONGEST_LINE >> 20} MB")
        structure = _STRING.sub(b"", text)
        self._depth += len(_OPENING.findall(structure)) - len(_CLOSING.findall(structure))

    def _last(self) -> Iterator[bytes]:
        """The array's own bracket has come."""
        if not self._parts[-1].endswith(b"]"):
            raise CorruptStream("there is something after its array")
        self._parts[-1] = self._parts[-1][:-1].rstrip()
        self._ended = True
        if any(self._parts):
            yield from self._complete(comma=False)

    def _complete(self, *, comma: bool) -> Iterator[bytes]:
        whole = b" ".join(self._parts)
        self._parts, self._size = [], 0
        yield from _single(whole[:-1] if comma else whole)


def _single(text: bytes) -> list[bytes]:
    """The text of one element, or those of all that share a line; a bad one stays as it is."""
    if _is_json(text):
        return [text]
    try:
        return [orjson.dumps(each) for each in orjson.loads(b"[%b]" % text)]
    except ValueError:
        return [text]


def _is_json(text: bytes) -> bool:
    try:
        orjson.loads(text)
    except ValueError:
        return False
    return True
