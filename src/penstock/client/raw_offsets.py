"""Offsets as the text that a worker sent: what JSON readers lose (1.0 or 1e0, spaces) is kept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from penstock.client.advice import CHECK_ADDRESS
from penstock.client.errors import ConnectApiError

_DECODER = json.JSONDecoder()
_SPACE = " \t\n\r"


@dataclass(frozen=True)
class RawOffset:
    """JSON texts; ``offset`` is None where the worker sent null or left it out."""

    partition: str
    offset: str | None


def read_offsets(text: str) -> list[RawOffset]:
    """The entries of ``{"offsets": [...]}``, cut out of the text; ConnectApiError if it is not."""
    try:
        members = dict(_members(text, _skip(text, 0)))
        return [_entry(item) for item in _items(members["offsets"])]
    except (ValueError, KeyError, IndexError) as error:
        raise ConnectApiError(
            200, "the worker answered with something other than offsets"
        ).advising(CHECK_ADDRESS) from error


def write_offsets(offsets: list[RawOffset]) -> str:
    """The body of a request that alters them, with every text as it is."""
    entries = (f'{{"partition":{o.partition},"offset":{o.offset or "null"}}}' for o in offsets)
    return f'{{"offsets":[{",".join(entries)}]}}'


def _entry(text: str) -> RawOffset:
    members = dict(_members(text, 0))
    offset = members.get("offset", "null")
    return RawOffset(members["partition"], None if offset == "null" else offset)


def _members(text: str, at: int) -> Iterator[tuple[str, str]]:
    """Keys and value texts of the object at ``at``."""
    at = _expect(text, at, "{")
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        at = _expect(text, _skip(text, at), ":")
        _, end = _DECODER.raw_decode(text, at)
        yield str(key), text[at:end]
        at = _after_comma(text, end, "}")


def _items(text: str) -> Iterator[str]:
    at = _expect(text, 0, "[")
    while text[at] != "]":
        _, end = _DECODER.raw_decode(text, at)
        yield text[at:end]
        at = _after_comma(text, end, "]")


def _after_comma(text: str, at: int, closing: str) -> int:
    at = _skip(text, at)
    return at if text[at] == closing else _expect(text, at, ",")


def _expect(text: str, at: int, sign: str) -> int:
    if text[at] != sign:
        raise ValueError(f"{sign} expected at {at}")
    return _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at
