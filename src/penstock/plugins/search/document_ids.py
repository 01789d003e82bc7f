"""Keys as ids of documents."""

from __future__ import annotations

from typing import Any, Final

import orjson
import pyarrow as pa
import pyarrow.compute as pc

MOST_BYTES: Final = 512
"""Servers refuse longer ids, and the whole request with them."""
NO_KEY: Final = (
    "The record has no key to be the document's id. Set 'key.ignore' to true, or "
    "produce records with keys."
)
WRONG_KEY: Final = (
    "The record's key cannot be a document's id: it is neither a text nor a whole number. Use "
    "StringConverter for keys, a transform that extracts a field, or set 'key.ignore' to true."
)
TOO_LONG: Final = f"The record's key is longer than the {MOST_BYTES} bytes of a document's id."
EMPTY: Final = "The record's key is empty, which a document's id must not be."


def ids_of(keys: pa.Array) -> tuple[pa.Array, dict[int, str]]:
    """An id for each row, null where there is none; and why, by row, where there is a key."""
    if isinstance(keys.type, pa.JsonType):
        return _checked(*_of_json(keys.storage.to_pylist()))
    if pa.types.is_integer(keys.type) or pa.types.is_string(keys.type):
        return _checked(keys.cast(pa.string()), {})
    rows = pc.indices_nonzero(keys.is_valid()).to_pylist()
    return pa.nulls(len(keys), pa.string()), dict.fromkeys(rows, WRONG_KEY)


def _of_json(texts: list[str | None]) -> tuple[pa.Array, dict[int, str]]:
    """Keys without a schema are JSON."""
    ids: list[str | None] = []
    wrong: dict[int, str] = {}
    for row, text in enumerate(texts):
        key: Any = None if text is None else orjson.loads(text)
        known = isinstance(key, str | int) and not isinstance(key, bool)
        ids.append(str(key) if known else None)
        if key is not None and not known:
            wrong[row] = WRONG_KEY
    return pa.array(ids, pa.string()), wrong


def _checked(ids: pa.Array, wrong: dict[int, str]) -> tuple[pa.Array, dict[int, str]]:
    sizes = pc.binary_length(ids)
    for mask, why in ((pc.equal(sizes, 0), EMPTY), (pc.greater(sizes, MOST_BYTES), TOO_LONG)):
        if pc.any(mask).as_py():
            wrong |= dict.fromkeys(pc.indices_nonzero(mask).to_pylist(), why)
            ids = pc.if_else(mask, pa.scalar(None, pa.string()), ids)
    return ids, wrong
