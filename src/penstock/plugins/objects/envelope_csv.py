"""Records from the rows of ``csv`` objects, as the object sink and Aiven's write them."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from typing import BinaryIO, Final

import pyarrow as pa

from penstock.plugins.objects.envelope_config import (
    AUTO,
    BYTES,
    ENVELOPE_CONFIG,
    KEY_TYPE,
    VALUE_TYPE,
)
from penstock.plugins.objects.envelope_values import (
    Headers,
    decoded,
    from_bytes,
    header_column,
    milliseconds,
)
from penstock.plugins.objects.sink_config import ENCODING, FIELDS
from penstock.sdk.transformers.lined import LinedTransformer
from penstock.sdk.transformers.parts import in_parts
from penstock.sdk.transformers.streams import LONGEST_LINE, CorruptStream, line_blocks
from penstock.sdk.transformers.transformer import RestoredColumns

Row = list[bytes | None]

MOST_ROWS: Final = 10_000
_FIELD: Final = re.compile(rb'(?:"((?:[^"]|"")*)"|([^",]*))(,|$)')


class CsvEnvelopes(LinedTransformer):
    """A row a record, without a header row; null is empty, and an empty text is ``""``."""

    config_def = ENVELOPE_CONFIG

    def lines_of(self, block: list[bytes]) -> list[bytes]:
        """All of them: an empty one is a row of one field that is null."""
        return block

    def array(self, lines: list[bytes]) -> pa.Array:
        """The values alone."""
        return self.made(lines, len(lines)).value

    def blocks(self, stream: BinaryIO) -> Iterator[list[bytes]]:
        """Rows: where a text has newlines in it, a row has several lines."""
        rows = _Rows()
        for lines in line_blocks(stream):
            yield from in_parts(rows.take(lines), MOST_ROWS)
        rows.check_end()

    def made(self, lines: list[bytes], position: int) -> RestoredColumns:
        """ValueError for a row with other fields."""
        names = [name.lower() for name in self.settings[FIELDS]]
        rows = [_fields(line, len(names)) for line in lines]
        columns: dict[str, Row] = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
        nulls: Row = [None] * len(lines)
        key, key_field = self._side(columns.get("key", nulls), KEY_TYPE)
        value, value_field = self._side(columns.get("value", nulls), VALUE_TYPE)
        times = milliseconds([_decoded(row) for row in columns.get("timestamp", nulls)])
        headers = header_column([_headers(row) for row in columns.get("headers", nulls)])
        return RestoredColumns(value, value_field, position, key, key_field, times, headers)

    def _side(self, rows: Row, side: str) -> tuple[pa.Array, pa.Field]:
        said = str(self.settings[side]).lower()
        if str(self.settings[ENCODING]).lower() == "base64":
            rows = [None if row is None else base64.b64decode(row, validate=True) for row in rows]
        return from_bytes(rows, BYTES if said == AUTO else said)


class _Rows:
    """Rows, as their lines come in."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def take(self, lines: list[bytes]) -> Iterator[bytes]:
        """Those that are complete with these lines."""
        for line in lines:
            inside = bool(self._parts) != (line.count(b'"') % 2 == 1)
            if inside:
                self._keep(line)
            elif self._parts:
                yield b"\n".join([*self._parts, line])
                self._parts, self._size = [], 0
            else:
                yield line

    def check_end(self) -> None:
        """Nothing comes any more."""
        if self._parts:
            raise CorruptStream("its last row is cut off")

    def _keep(self, line: bytes) -> None:
        self._parts.append(line)
        self._size += len(line)
        if self._size > LONGEST_LINE:
            raise CorruptStream(f"a row is longer than {LONGEST_LINE >> 20} MB")


def _fields(line: bytes, count: int) -> Row:
    line = line.removesuffix(b"\r")
    found = _quoted(line) if b'"' in line else [each or None for each in line.split(b",")]
    if len(found) != count:
        raise ValueError(f"it has {len(found)} fields instead of {count}")
    return found


def _quoted(line: bytes) -> Row:
    found: Row = []
    at = 0
    while True:
        field = _FIELD.match(line, at)
        if field is None:
            raise ValueError("it is not CSV")
        quoted, plain, separator = field.groups()
        found.append(plain or None if quoted is None else quoted.replace(b'""', b'"'))
        at = field.end()
        if not separator:
            return found


def _decoded(row: bytes | None) -> str | None:
    return None if row is None else row.decode()


def _headers(row: bytes | None) -> Headers:
    """``key:value`` of each in base64, ``key`` where the value is null."""
    return None if row is None else [_header(*each.partition(":")) for each in _split(row)]


def _split(row: bytes) -> list[str]:
    return row.decode().split(";")


def _header(key: str, colon: str, value: str) -> dict[str, bytes | str | None]:
    name = (decoded(key) or b"").decode()
    return {"key": name, "value": decoded(value) if colon else None}
