"""Records from the envelopes of ``jsonl`` and ``json`` objects."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Final, NoReturn

import orjson

from penstock.plugins.objects.envelope_config import (
    AUTO,
    ENVELOPE_CONFIG,
    JSON,
    KEY_TYPE,
    VALUE_TYPE,
)
from penstock.plugins.objects.envelope_values import (
    Headers,
    decoded,
    from_json_texts,
    header_column,
    milliseconds,
)
from penstock.plugins.objects.sink_config import ALL_FIELDS
from penstock.sdk.transformers.json_array import JsonArrayTransformer
from penstock.sdk.transformers.json_lines import JsonLinesTransformer
from penstock.sdk.transformers.transformer import RestoredColumns


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")


_DECODER: Final = json.JSONDecoder(parse_constant=_no_number)
_FIELDS: Final = frozenset(ALL_FIELDS)
_SPACE: Final = re.compile(r"[ \t\r\n]*")


class JsonLinesEnvelopes(JsonLinesTransformer):
    """``{"key":…,"value":…,"timestamp":…,"headers":…}`` a line, or some of these fields.

    Keys and values keep the text they have: numbers lose no digits.
    """

    config_def = ENVELOPE_CONFIG

    def made(self, lines: list[bytes], position: int) -> RestoredColumns:
        """ValueError if it is not an envelope."""
        rows = [as_written(line) or members(line.decode()) for line in lines]
        keys = [_text(row, "key") for row in rows]
        values = [_text(row, "value") for row in rows]
        key, key_field = from_json_texts(keys, self._kind(KEY_TYPE))
        value, value_field = from_json_texts(values, self._kind(VALUE_TYPE))
        times = milliseconds([_time(_text(row, "timestamp")) for row in rows])
        headers = header_column([_headers(_text(row, "headers")) for row in rows])
        return RestoredColumns(value, value_field, position, key, key_field, times, headers)

    def _kind(self, side: str) -> str:
        said = str(self.settings[side]).lower()
        return JSON if said == AUTO else said


class JsonArrayEnvelopes(JsonLinesEnvelopes, JsonArrayTransformer):
    """The same in one array."""

    lines_of = JsonArrayTransformer.lines_of
    blocks = JsonArrayTransformer.blocks


def as_written(line: bytes) -> dict[str, str] | None:
    """As ``members``, quickly, of an envelope that is written without spaces; None of any other.

    All but the value is what a writer of JSON makes of it; so what is between is the value.
    """
    try:
        said = orjson.loads(line)
        at, before, after = _layout(tuple(said))
    except (ValueError, TypeError):
        return None
    texts = [orjson.dumps(each) for each in said.values()]
    before, after = before % tuple(texts[:at]), after % tuple(texts[at + 1 :])
    value = line[len(before) : len(line) - len(after)]
    if not line.startswith(before) or not line.endswith(after):
        return None
    if value != texts[at] and not _says(value, said["value"]):
        return None
    texts[at] = value
    return dict(zip(said, map(bytes.decode, texts), strict=True))


@lru_cache
def _layout(names: tuple[str, ...]) -> tuple[int, bytes, bytes]:
    """Which field is the value, what is before it and what after; ValueError of other names."""
    if not _FIELDS.issuperset(names):
        raise ValueError
    at = names.index("value")
    before = "".join(f'"{name}":%b,' for name in names[:at])
    after = "".join(f',"{name}":%b' for name in names[at + 1 :])
    return at, f'{{{before}"value":'.encode(), f"{after}}}".encode()


def _says(text: bytes, value: object) -> bool:
    try:
        return bool(orjson.loads(text) == value)
    except ValueError:
        return False


def members(text: str) -> dict[str, str]:
    """The fields of an envelope, each as the text it has; ValueError if it is none."""
    at = _skip(text, 0)
    if text[at : at + 1] != "{":
        raise ValueError("it is not an envelope, which is an object in JSON")
    found: dict[str, str] = {}
    at = _skip(text, at + 1)
    while text[at : at + 1] != "}":
        name, start = _member(text, at)
        end = _DECODER.raw_decode(text, start)[1]
        found[name] = text[start:end]
        at = _next_member(text, end)
    if _skip(text, at + 1) != len(text):
        raise ValueError("there is something after its envelope")
    return found


def _member(text: str, at: int) -> tuple[str, int]:
    """The name of a field, and where its value begins."""
    name, end = _DECODER.raw_decode(text, at)
    colon = _skip(text, end)
    if name not in ALL_FIELDS:
        raise ValueError(f"its envelope has a field {name!r}, not one of {', '.join(ALL_FIELDS)}")
    if text[colon : colon + 1] != ":":
        raise ValueError("it is not JSON")
    return name, _skip(text, colon + 1)


def _next_member(text: str, end: int) -> int:
    at = _skip(text, end)
    if text[at : at + 1] == ",":
        return _skip(text, at + 1)
    if text[at : at + 1] == "}":
        return at
    raise ValueError("it is not JSON")


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def _text(row: dict[str, str], name: str) -> str | None:
    text = row.get(name)
    return None if text == "null" else text


def _time(text: str | None) -> str | None:
    said = None if text is None else orjson.loads(text)
    if said is None or isinstance(said, str):
        return said
    raise ValueError("its timestamp is not ISO-8601 text")


def _headers(text: str | None) -> Headers:
    if text is None:
        return None
    try:
        said = orjson.loads(text)
        return [{"key": str(each["key"]), "value": decoded(each["value"])} for each in said]
    except (TypeError, KeyError):
        raise ValueError("its headers are not a list of key and value in base64") from None
