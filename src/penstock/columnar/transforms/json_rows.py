"""Schemaless columns, row by row: what such a record holds is known only when it is parsed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import orjson
import pyarrow as pa

from penstock.columnar.json_text import Misfit
from penstock.sdk.errors import RecordError
from penstock.sdk.schema import SCHEMALESS

Change = Callable[[Any, int], Any]
"""A parsed value, or None, and its row to what replaces it; raises ``Misfit``."""


def json_texts(array: pa.Array) -> pa.Array:
    """The JSON of a schemaless column; any other holds nothing but null."""
    if isinstance(array, pa.ExtensionArray):
        return array.storage
    return pa.nulls(len(array), pa.string())


def json_array(texts: pa.Array) -> pa.Array:
    """Texts of JSON as a schemaless column."""
    return pa.ExtensionArray.from_storage(SCHEMALESS.type, texts.cast(pa.string()))


def changed_rows(array: pa.Array, change: Change) -> pa.Array:
    """Every row changed by itself; ``RecordError`` names the first that cannot be."""
    made: list[str | None] = []
    for row, text in enumerate(json_texts(array).to_pylist()):
        try:
            value = change(None if text is None else orjson.loads(text), row)
            made.append(None if value is None else orjson.dumps(value).decode())
        except (Misfit, orjson.JSONEncodeError) as error:
            raise RecordError(str(error), row=row) from None
    return json_array(pa.array(made, pa.string()))


def parsed_rows(array: pa.Array) -> list[Any]:
    """Every row of a schemaless column, parsed."""
    texts = json_texts(array).to_pylist()
    return [None if text is None else orjson.loads(text) for text in texts]


def dumped_rows(values: Iterable[Any]) -> pa.Array:
    """Parsed values as a schemaless column."""
    texts = [None if value is None else orjson.dumps(value).decode() for value in values]
    return json_array(pa.array(texts, pa.string()))


def required_map(value: Any, purpose: str) -> dict[str, Any]:
    """``value``, which has to be an object."""
    if not isinstance(value, dict):
        found = "null" if value is None else JAVA_NAMES[type(value)]
        raise Misfit(
            f"Only Map objects supported in absence of schema for [{purpose}], found: {found}"
        )
    return value


JAVA_NAMES = {
    bool: "java.lang.Boolean",
    int: "java.lang.Long",
    float: "java.lang.Double",
    str: "java.lang.String",
    list: "java.util.ArrayList",
    dict: "java.util.HashMap",
}
