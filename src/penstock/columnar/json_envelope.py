"""The two parts of ``{"schema": …, "payload": …}``, without parsing the schema every time."""

from __future__ import annotations

import re
from json import JSONDecodeError, JSONDecoder
from typing import Any, Final

import orjson

from penstock.columnar.json_schema import read_schema
from penstock.columnar.json_text import JsonOptions, Misfit
from penstock.sdk.schema import Schema

NOT_AN_ENVELOPE: Final = (
    'JsonConverter with schemas.enable requires "schema" and "payload" fields and may not contain'
    " additional fields. If you are trying to deserialize plain JSON data, set"
    " schemas.enable=false in your converter configuration."
)
NOT_JSON: Final = (
    "Converting byte[] to Kafka Connect data failed due to serialization error: the record is not"
    " JSON ({}). If it is plain text, use org.apache.kafka.connect.storage.StringConverter."
)


class EnvelopeReader:
    """Splits records into schema and raw payload.

    Most records begin with the very bytes that the one before began with, up to the payload. Such
    a beginning is parsed once; whatever stands between it and the last brace is the payload, if
    it is JSON by itself, which the caller finds out when it parses it.
    """

    def __init__(self, options: JsonOptions, cache_size: int) -> None:
        self.options = options
        self._cache_size = max(1, cache_size)
        self._schemas: dict[str, Schema | None] = {}
        self._prefixes: dict[bytes, Schema | None] = {}

    def split(self, record: bytes) -> tuple[Schema | None, bytes]:
        """Schema, or None if that is null, and payload; raises ``Misfit``."""
        if record.endswith(b"}"):
            for prefix, schema in self._prefixes.items():
                if record.startswith(prefix):
                    return schema, record[len(prefix) : -1]
        return self.split_slowly(record)

    def split_slowly(self, record: bytes) -> tuple[Schema | None, bytes]:
        """As ``split``, but looks at every byte."""
        text = _text(record)
        spans = _members(text)
        if spans.keys() != {"schema", "payload"}:
            raise Misfit(NOT_AN_ENVELOPE)
        schema = self._schema(text[slice(*spans["schema"])])
        start, end = spans["payload"]
        if spans["schema"] < spans["payload"] and text[end:] == "}":
            self._remember(text[:start].encode(), schema)
        return schema, text[start:end].encode()

    def _schema(self, raw: str) -> Schema | None:
        if raw not in self._schemas:
            if len(self._schemas) >= self._cache_size:
                self._schemas.clear()
            json = orjson.loads(raw)
            self._schemas[raw] = None if json is None else read_schema(json, self.options)
        return self._schemas[raw]

    def _remember(self, prefix: bytes, schema: Schema | None) -> None:
        """The latest is tried first; beyond a handful, looking up the schema is as fast."""
        others = [item for item in self._prefixes.items() if item[0] != prefix]
        self._prefixes = dict([(prefix, schema), *others[:7]])


def _text(record: bytes) -> str:
    try:
        return record.decode()
    except UnicodeDecodeError as error:
        raise Misfit(NOT_JSON.format(error)) from None


_BLANK: Final = re.compile(r"[ \t\n\r]*")
_DECODER: Final = JSONDecoder()


def _members(text: str) -> dict[str, tuple[int, int]]:
    """Where the value of each member of a JSON object begins and ends."""
    try:
        whole = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise Misfit(NOT_JSON.format(error)) from None
    return _spans(text) if isinstance(whole, dict) and whole else {}


def _spans(text: str) -> dict[str, tuple[int, int]]:
    spans: dict[str, tuple[int, int]] = {}
    at, separator = _skip(text, 0), ","
    while separator == ",":
        key, at = _value(text, _skip(text, at + 1))
        start = _skip(text, _skip(text, at) + 1)
        _, end = _value(text, start)
        if key in spans:
            raise Misfit(NOT_AN_ENVELOPE)
        spans[key] = (start, end)
        at = _skip(text, end)
        separator = text[at]
    return spans


def _value(text: str, at: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, at)
    except (JSONDecodeError, RecursionError, ValueError) as error:
        raise Misfit(NOT_JSON.format(error)) from None


def _skip(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at
