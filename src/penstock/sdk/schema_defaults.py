"""Default values of schemas, as JSON."""

from __future__ import annotations

import base64
import datetime as dt
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from penstock.sdk.errors import PenstockError
from penstock.sdk.schema_types import DATE, DECIMAL, TIME, TIMESTAMP, SchemaType

if TYPE_CHECKING:
    from penstock.sdk.schema import Schema


def write_default(schema: Schema, value: Any) -> Any:
    """A default in JSON terms; ``read_default`` is its inverse."""
    if value is None:
        return None
    if schema.logical is not None:
        return str(value) if schema.logical == DECIMAL else value.isoformat()
    return _write_plain(schema, value)


def _write_plain(schema: Schema, value: Any) -> Any:
    match schema.type:
        case SchemaType.BYTES:
            return base64.b64encode(value).decode()
        case SchemaType.ARRAY:
            items = inner_schema(schema.value_schema)
            return [write_default(items, item) for item in value]
        case SchemaType.MAP:
            keys, values = inner_schema(schema.key_schema), inner_schema(schema.value_schema)
            return [[write_default(keys, k), write_default(values, v)] for k, v in value.items()]
        case SchemaType.STRUCT:
            return {k: write_default(schema.fields[k], v) for k, v in value.items()}
        case _:
            return value


def read_default(schema: Schema, value: Any) -> Any:
    """A default that ``write_default`` has written."""
    if value is None:
        return None
    if schema.logical is not None:
        return _FROM_TEXT[schema.logical](value)
    return _read_plain(schema, value)


def _read_plain(schema: Schema, value: Any) -> Any:
    match schema.type:
        case SchemaType.BYTES:
            return base64.b64decode(value)
        case SchemaType.ARRAY:
            items = inner_schema(schema.value_schema)
            return [read_default(items, item) for item in value]
        case SchemaType.MAP:
            keys, values = inner_schema(schema.key_schema), inner_schema(schema.value_schema)
            return {read_default(keys, k): read_default(values, v) for k, v in value}
        case SchemaType.STRUCT:
            return {k: read_default(schema.fields[k], v) for k, v in value.items()}
        case _:
            return value


_FROM_TEXT: Final[Mapping[str, Callable[[str], Any]]] = {
    DECIMAL: Decimal,
    DATE: dt.date.fromisoformat,
    TIME: dt.time.fromisoformat,
    TIMESTAMP: dt.datetime.fromisoformat,
}


def inner_schema(schema: Schema | None) -> Schema:
    """The schema of what is in an ARRAY or MAP; PenstockError if there is none."""
    if schema is None:
        raise PenstockError("a schema of type ARRAY or MAP needs the schema of what is in it")
    return schema
