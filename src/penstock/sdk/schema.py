"""Kafka Connect's schemas, and how they lie in Arrow.

``to_field`` and ``from_field`` are inverse to each other. An Arrow type says most of a schema; what
it cannot say (name, version, doc, parameters, default, whether it is optional) is kept as JSON in
the field's metadata, and only where it differs from what the type alone would say. So Arrow data
from anywhere, without any metadata, has a natural schema too.

===========================  ==============================
Connect                      Arrow
===========================  ==============================
INT8 … INT64                 int8 … int64
FLOAT32, FLOAT64, BOOLEAN    float32, float64, bool
STRING, BYTES                string, binary
ARRAY, MAP, STRUCT           list, map, struct
Decimal(scale)               decimal128(38, scale)
Date, Time                   date32, time32[ms]
Timestamp                    timestamp[ms, UTC]
no schema                    arrow.json: any value, as text
===========================  ==============================
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, Final, TypedDict, Unpack

import pyarrow as pa

from penstock.sdk.errors import PenstockError
from penstock.sdk.schema_defaults import inner_schema, read_default, write_default
from penstock.sdk.schema_types import DATE, DECIMAL, TIME, TIMESTAMP, SchemaType

__all__ = [
    "DATE",
    "DECIMAL",
    "METADATA",
    "SCHEMALESS",
    "TIME",
    "TIMESTAMP",
    "Extras",
    "Schema",
    "SchemaType",
    "described",
    "from_field",
    "is_schemaless",
    "to_field",
    "to_inner_field",
    "to_type",
]

METADATA: Final = b"connect.schema"
"""The key, in a field's metadata, of what its Arrow type cannot say."""

SCHEMALESS: Final = pa.field("value", pa.json_())
"""The field of values without a schema: each is JSON text."""


class Extras(TypedDict, total=False):
    """What any schema may carry besides its type."""

    optional: bool
    name: str | None
    version: int | None
    doc: str | None
    parameters: Mapping[str, str]
    default: Any


@dataclass(frozen=True, eq=False)
class Schema:
    """The type of a value, as Kafka Connect describes it. Immutable, hashable, picklable.

    Two schemas are equal when everything about them is, the order of the fields included.
    ``default`` is a Python value of the schema's type: dates and decimals for the logical types, a
    dict for STRUCT and MAP.
    """

    type: SchemaType
    optional: bool = False
    name: str | None = None
    version: int | None = None
    doc: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    default: Any = None
    fields: Mapping[str, Schema] = field(default_factory=dict)
    key_schema: Schema | None = None
    value_schema: Schema | None = None

    @classmethod
    def int8(cls, **extras: Unpack[Extras]) -> Schema:
        return cls(SchemaType.INT8, **extras)

    @classmethod
    def int16(cls, **extras: Unpack[Extras]) -> Schema:
        return cls(SchemaType.INT16, **extras)

    @classmethod
    def int32(cls, **extras: Unpack[Extras]) -> Schema:
        return cls(SchemaType.INT32, **extras)

    @classmethod
    def int64(cls, **extras: Unpack[Extras]) -> Schema:
        return cls(SchemaType.INT64, **extras)

    @classmethod
    def float32(cls, **extras: Unpack[Extras]) -> Schema:
        return cls(SchemaType.FLOAT32, **extras)

    @classmethod
    def float64(cls, **extras: Unpack[Extras]) -> Schema:
        return cls(SchemaType.FLOAT64, **extras)

    @classmethod
    def boolean(cls, **extras: Unpack[Extras]) -> Schema:
        return cls(SchemaType.BOOLEAN, **extras)

    @classmethod
    def string(cls, **extras: Unpack[Extras]) -> Schema:
        return cls(SchemaType.STRING, **extras)

    @classmethod
    def bytes(cls, **extras: Unpack[Extras]) -> Schema:
        return cls(SchemaType.BYTES, **extras)

    @classmethod
    def array(cls, items: Schema, **extras: Unpack[Extras]) -> Schema:
        return cls(SchemaType.ARRAY, value_schema=items, **extras)

    @classmethod
    def map(cls, keys: Schema, values: Schema, **extras: Unpack[Extras]) -> Schema:
        return cls(SchemaType.MAP, key_schema=keys, value_schema=values, **extras)

    @classmethod
    def struct(cls, fields: Mapping[str, Schema], **extras: Unpack[Extras]) -> Schema:
        return cls(SchemaType.STRUCT, fields=dict(fields), **extras)

    @classmethod
    def decimal(cls, scale: int, *, optional: bool = False, default: Any = None) -> Schema:
        """Exact decimal numbers with ``scale`` digits after the point."""
        scaled = {"scale": str(scale)}
        return cls(SchemaType.BYTES, optional, DECIMAL, 1, None, scaled, default)

    @classmethod
    def date(cls, *, optional: bool = False, default: Any = None) -> Schema:
        """A day, without a time zone."""
        return cls(SchemaType.INT32, optional, DATE, 1, default=default)

    @classmethod
    def time(cls, *, optional: bool = False, default: Any = None) -> Schema:
        """A time of day in milliseconds, without a time zone."""
        return cls(SchemaType.INT32, optional, TIME, 1, default=default)

    @classmethod
    def timestamp(cls, *, optional: bool = False, default: Any = None) -> Schema:
        """A moment, in milliseconds."""
        return cls(SchemaType.INT64, optional, TIMESTAMP, 1, default=default)

    @property
    def scale(self) -> int:
        """Of a Decimal: the number of digits after the point."""
        return int(self.parameters["scale"])

    @property
    def logical(self) -> str | None:
        """Its name, if that and its type make it one of Kafka Connect's logical types."""
        if _LOGICAL_TYPES.get(self.name or "") is not self.type:
            return None
        return None if self.name == DECIMAL and not _usable_scale(self.parameters) else self.name

    @cached_property
    def _identity(self) -> tuple[Any, ...]:
        parameters = tuple(sorted(self.parameters.items()))
        inner = (tuple(self.fields.items()), self.key_schema, self.value_schema)
        return (self.type, self.optional, self.name, self.version, self.doc, parameters, inner)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Schema):
            return NotImplemented
        return self._identity == other._identity and self.default == other.default

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(self._identity)


_LOGICAL_TYPES: Final = {
    DECIMAL: SchemaType.BYTES,
    DATE: SchemaType.INT32,
    TIME: SchemaType.INT32,
    TIMESTAMP: SchemaType.INT64,
}


def _usable_scale(parameters: Mapping[str, str]) -> bool:
    """Whether Arrow can hold decimals of this scale; if not, they stay the bytes they are."""
    text = parameters.get("scale", "")
    return text.removeprefix("-").isdecimal() and -38 <= int(text) <= 38


def is_schemaless(arrow_field: pa.Field) -> bool:
    """Whether values of this field have no schema; a column of nothing but null has none either."""
    return isinstance(arrow_field.type, pa.JsonType) or bool(pa.types.is_null(arrow_field.type))


def to_field(schema: Schema, name: str) -> pa.Field:
    """An Arrow field for values of ``schema``.

    It is nullable even if the schema is not optional: a null key or value of a record says that
    there is none, whatever its schema. Fields inside of it are nullable if they are optional.
    """
    return _to_field(schema, name, nullable=True)


def from_field(arrow_field: pa.Field) -> Schema | None:
    """The schema of an Arrow field, or None if its values are schemaless."""
    if is_schemaless(arrow_field):
        return None
    kind = arrow_field.type
    # Not for nested types: equal ones may have other metadata inside.
    if _is.is_string(kind) or (_is.is_primitive(kind) and not _is.is_duration(kind)):
        return _plain(kind, arrow_field.nullable, (arrow_field.metadata or {}).get(METADATA))
    return _from_field(arrow_field)


@lru_cache(maxsize=256)
def _plain(kind: pa.DataType, nullable: bool, said: bytes | None) -> Schema:
    """Asked for with every batch, which may be of one record: hundreds of times a second."""
    metadata = None if said is None else {METADATA: said}
    return _from_field(pa.field("", kind, nullable, metadata))


def to_type(schema: Schema) -> pa.DataType:
    """The Arrow type in which values of ``schema`` are held."""
    if schema.logical is not None:
        return _logical_type(schema)
    match schema.type:
        case SchemaType.ARRAY:
            return pa.list_(_inner_field(schema.value_schema, "item"))
        case SchemaType.MAP:
            keys = _to_field(inner_schema(schema.key_schema), "key", nullable=False)
            return pa.map_(keys, _inner_field(schema.value_schema, "value"))
        case SchemaType.STRUCT:
            return pa.struct([_inner_field(s, name) for name, s in schema.fields.items()])
        case _:
            return _PRIMITIVES[schema.type]


_PRIMITIVES: Final = {
    SchemaType.INT8: pa.int8(),
    SchemaType.INT16: pa.int16(),
    SchemaType.INT32: pa.int32(),
    SchemaType.INT64: pa.int64(),
    SchemaType.FLOAT32: pa.float32(),
    SchemaType.FLOAT64: pa.float64(),
    SchemaType.BOOLEAN: pa.bool_(),
    SchemaType.STRING: pa.string(),
    SchemaType.BYTES: pa.binary(),
}


def _logical_type(schema: Schema) -> pa.DataType:
    if schema.logical == DECIMAL:
        return pa.decimal128(38, schema.scale)
    if schema.logical == DATE:
        return pa.date32()
    return pa.time32("ms") if schema.logical == TIME else pa.timestamp("ms", tz="UTC")


def to_inner_field(schema: Schema, name: str) -> pa.Field:
    """An Arrow field for values of ``schema`` inside of something else: nullable if optional."""
    return _inner_field(schema, name)


def _inner_field(schema: Schema | None, name: str) -> pa.Field:
    schema = inner_schema(schema)
    return _to_field(schema, name, nullable=schema.optional)


def _to_field(schema: Schema, name: str, *, nullable: bool) -> pa.Field:
    return described(pa.field(name, to_type(schema), nullable=nullable), schema)


def described(plain: pa.Field, schema: Schema) -> pa.Field:
    """``plain`` as the field of ``schema``, of whose type it is: its metadata says the rest."""
    natural = _natural(plain)
    unsaid = {k: getattr(schema, k) for k in _EXTRAS if getattr(schema, k) != getattr(natural, k)}
    if "default" in unsaid:
        unsaid["default"] = write_default(schema, schema.default)
    if not unsaid:
        return plain.remove_metadata()
    return plain.with_metadata({METADATA: json.dumps(unsaid)})


_EXTRAS: Final = ("optional", "name", "version", "doc", "parameters", "default")


def _from_field(arrow_field: pa.Field) -> Schema:
    natural = _natural(arrow_field)
    said = json.loads((arrow_field.metadata or {}).get(METADATA, b"{}"))
    schema = replace(natural, **said)
    if "default" in said:
        schema = replace(schema, default=read_default(schema, said["default"]))
    return schema


def _natural(arrow_field: pa.Field) -> Schema:
    """What the Arrow type says by itself; fields inside of it may have metadata of their own."""
    kind = arrow_field.type
    for applies, make in _READERS:
        if applies(kind):
            return replace(make(kind), optional=arrow_field.nullable)
    raise PenstockError(f'Arrow type {kind} of field "{arrow_field.name}" has no Connect schema')


def _struct(kind: pa.DataType) -> Schema:
    return Schema.struct(
        {kind.field(i).name: _from_field(kind.field(i)) for i in range(kind.num_fields)}
    )


def _map(kind: pa.DataType) -> Schema:
    return Schema.map(_from_field(kind.key_field), _from_field(kind.item_field))


def _array(kind: pa.DataType) -> Schema:
    return Schema.array(_from_field(kind.value_field))


def _inside(kind: pa.DataType) -> Schema:
    """Dictionaries and extension types are but another way to hold the same values."""
    inner = kind.value_type if pa.types.is_dictionary(kind) else kind.storage_type
    return _natural(pa.field("", inner))


def _is_any(*kinds: pa.DataType) -> Callable[[pa.DataType], bool]:
    return lambda kind: kind in kinds


_is = pa.types
_READERS: Final[list[tuple[Callable[[pa.DataType], bool], Callable[[pa.DataType], Schema]]]] = [
    (_is.is_int8, lambda _: Schema.int8()),
    (_is_any(pa.int16(), pa.uint8()), lambda _: Schema.int16()),
    (_is_any(pa.int32(), pa.uint16()), lambda _: Schema.int32()),
    (_is_any(pa.int64(), pa.uint32(), pa.uint64()), lambda _: Schema.int64()),
    (_is_any(pa.float32(), pa.float16()), lambda _: Schema.float32()),
    (_is.is_float64, lambda _: Schema.float64()),
    (_is.is_boolean, lambda _: Schema.boolean()),
    (_is_any(pa.string(), pa.large_string(), pa.string_view()), lambda _: Schema.string()),
    (_is_any(pa.binary(), pa.large_binary(), pa.binary_view()), lambda _: Schema.bytes()),
    (_is.is_fixed_size_binary, lambda _: Schema.bytes()),
    (_is.is_struct, _struct),
    (_is.is_map, _map),
    (_is.is_list, _array),
    (_is.is_large_list, _array),
    (_is.is_fixed_size_list, _array),
    (_is.is_list_view, _array),
    (_is.is_large_list_view, _array),
    (_is.is_date, lambda _: Schema.date()),
    (_is.is_time, lambda _: Schema.time()),
    (_is.is_timestamp, lambda _: Schema.timestamp()),
    (_is.is_decimal, lambda kind: Schema.decimal(kind.scale)),
    (_is.is_dictionary, _inside),
    (lambda kind: isinstance(kind, pa.BaseExtensionType), _inside),
    (_is.is_null, lambda _: Schema.string()),
]
