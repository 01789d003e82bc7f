"""Kafka Connect's converters for single numbers and booleans: as Kafka's own serializers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import orjson
import pyarrow as pa
from pyarrow import compute

from penstock.columnar.plain_converters import refuse
from penstock.columnar.transforms.json_rows import json_texts
from penstock.sdk.config import ConfigDef
from penstock.sdk.converters import Converter, Decoded, side
from penstock.sdk.errors import RecordError
from penstock.sdk.schema import Schema, SchemaType, from_field, to_field, to_type

_PACKAGE = "org.apache.kafka.connect.converters"


class NumberConverter(Converter):
    """Values of one type, each in as many bytes as the type has."""

    config_def: ClassVar[ConfigDef] = ConfigDef()
    kind: ClassVar[SchemaType]
    layout: ClassVar[str]
    """The type of the bytes, as numpy writes it."""
    json_type: ClassVar[type | None] = None
    """What a value without a schema has to be, if any can be of this type."""

    def configure(self, config: Mapping[str, str], is_key: bool) -> None:
        self.config_def.parse(config)
        self._side = side(is_key)
        self._field = to_field(Schema(self.kind, optional=True), self._side)

    def encode(self, array: pa.Array, field: pa.Field) -> pa.Array:
        numbers = self._numbers(array, field)
        width = np.dtype(self.layout).itemsize
        data = (
            np.asarray(numbers.fill_null(pa.scalar(0).cast(numbers.type)))
            .astype(self.layout)
            .tobytes()
        )
        fixed = pa.Array.from_buffers(
            pa.binary(width), len(numbers), [None, pa.py_buffer(data)]
        ).cast(pa.binary())
        return compute.if_else(numbers.is_valid(), fixed, None) if numbers.null_count else fixed

    def decode(self, data: pa.Array) -> list[Decoded]:
        if not len(data):
            return []
        self._check_sizes(data.cast(pa.binary()))
        width = np.dtype(self.layout).itemsize
        whole = data.cast(pa.binary()).fill_null(bytes(width))
        _, raw = whole.cast(pa.binary(width)).buffers()
        numbers = np.frombuffer(raw, self.layout, count=len(data)).astype(self._native())
        made = pa.array(numbers).cast(to_type(Schema(self.kind)))
        if data.null_count:
            made = compute.if_else(data.is_valid(), made, None)
        return [Decoded(0, made, self._field)]

    def _native(self) -> str:
        return self.layout.replace(">", "=")

    def _numbers(self, array: pa.Array, field: pa.Field) -> pa.Array:
        schema = from_field(field)
        if schema is None:
            return self._schemaless(array)
        if schema.type is not self.kind or schema.logical:
            found = schema.logical or schema.type
            refuse(array, f"{self._name()} cannot write {found}", f"{self._side}.converter")
            return pa.nulls(len(array), to_type(Schema(self.kind)))
        return array

    def _schemaless(self, array: pa.Array) -> pa.Array:
        texts = json_texts(array).to_pylist()
        values = [None if text is None else orjson.loads(text) for text in texts]
        for row, value in enumerate(values):
            if value is not None and type(value) is not self.json_type:
                found = type(value).__name__
                raise RecordError(f"{self._name()} cannot write a schemaless {found}", row=row)
        return pa.array(values, to_type(Schema(self.kind)))

    def _check_sizes(self, data: pa.Array) -> None:
        width = np.dtype(self.layout).itemsize
        wrong = compute.not_equal(compute.binary_length(data), width).fill_null(False)
        row = wrong.index(True).as_py()
        if row >= 0:
            size = len(data[row].as_py())
            raise RecordError(
                f"Failed to deserialize to {self.kind}: {size} bytes where {width} are expected",
                row=row,
            )

    def _name(self) -> str:
        return self.connect_class.rpartition(".")[2]


class ShortConverter(NumberConverter):
    """INT16."""

    connect_class: ClassVar[str] = f"{_PACKAGE}.ShortConverter"
    kind: ClassVar[SchemaType] = SchemaType.INT16
    layout: ClassVar[str] = ">i2"


class IntegerConverter(NumberConverter):
    """INT32."""

    connect_class: ClassVar[str] = f"{_PACKAGE}.IntegerConverter"
    kind: ClassVar[SchemaType] = SchemaType.INT32
    layout: ClassVar[str] = ">i4"


class LongConverter(NumberConverter):
    """INT64."""

    connect_class: ClassVar[str] = f"{_PACKAGE}.LongConverter"
    kind: ClassVar[SchemaType] = SchemaType.INT64
    layout: ClassVar[str] = ">i8"
    json_type: ClassVar[type | None] = int


class FloatConverter(NumberConverter):
    """FLOAT32."""

    connect_class: ClassVar[str] = f"{_PACKAGE}.FloatConverter"
    kind: ClassVar[SchemaType] = SchemaType.FLOAT32
    layout: ClassVar[str] = ">f4"


class DoubleConverter(NumberConverter):
    """FLOAT64."""

    connect_class: ClassVar[str] = f"{_PACKAGE}.DoubleConverter"
    kind: ClassVar[SchemaType] = SchemaType.FLOAT64
    layout: ClassVar[str] = ">f8"
    json_type: ClassVar[type | None] = float


class BooleanConverter(NumberConverter):
    """BOOLEAN: one byte, 1 or 0."""

    connect_class: ClassVar[str] = f"{_PACKAGE}.BooleanConverter"
    kind: ClassVar[SchemaType] = SchemaType.BOOLEAN
    layout: ClassVar[str] = "u1"
    json_type: ClassVar[type | None] = bool

    def decode(self, data: pa.Array) -> list[Decoded]:
        known = compute.is_in(data.cast(pa.binary()), pa.array([b"\0", b"\1", None], pa.binary()))
        row = known.index(False).as_py()
        if row >= 0:
            raise RecordError("Failed to deserialize to BOOLEAN: neither 0 nor 1", row=row)
        return super().decode(data)
