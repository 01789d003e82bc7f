"""Arrow columns to Avro and back, as converters need them.

All rows of a batch are written and read at once. Row by row, with fastavro, go those that are
written with another registered schema, types that are read so, and batches with a bad row.

Dates and times are read and written as the numbers that they are in both. So Python sees numbers,
texts and decimals only, and Arrow turns whole columns of numbers into dates.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from io import BytesIO
from typing import Any

import fastavro
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.columnar.json_text import Misfit
from penstock.registry.avro_decoding import ByRow, Read, decoded, reader, spread
from penstock.registry.avro_encoding import encoded
from penstock.registry.avro_reading import AvroReader, plain_avro
from penstock.registry.avro_writing import AvroWriter, by_name
from penstock.registry.wire import HEADER_BYTES, offsets_of
from penstock.sdk.errors import RecordError
from penstock.sdk.schema import DATE, TIME, TIMESTAMP, Schema, SchemaType, to_field, to_type

Shape = Callable[[Any], Any]
_NUMBERS = (DATE, TIME, TIMESTAMP)


class AvroColumnWriter:
    """Writes columns of one schema; ``text`` names another Avro schema to be written."""

    def __init__(self, schema: Schema, text: str | None = None) -> None:
        """Misfit if Avro has no such schema."""
        self.text = text if text is not None else json.dumps(AvroWriter().avro(schema))
        avro = json.loads(self.text)
        self.name = _record_name(avro)
        self._parsed = parsed(avro)
        self._type = _nullable(to_type(numbers_only(schema)))
        self._exact = _nullable(to_type(schema))
        self._shape = _written(schema)
        self._schema = schema if text is None else None

    def write(self, array: pa.Array, head: bytes) -> pa.Array:
        """Rows as bytes, ``head`` before each; RecordError with the row that does not fit."""
        numbers = self._numbers(array)
        if self._schema is not None:
            try:
                return encoded(numbers, self._schema, head)
            except Misfit:
                pass  # row by row, below, which finds the row
        return self._by_row(numbers, head)

    def _by_row(self, array: pa.Array, head: bytes) -> pa.Array:
        values = self._values(array)
        out, ends = BytesIO(), [0]
        for row, value in enumerate(values):
            if value is not None:
                out.write(head)
                self._write_one(out, value, row)
            ends.append(out.tell())
        offsets = pa.array(ends, pa.int32())
        whole = [None, offsets.buffers()[1], pa.py_buffer(out.getbuffer())]
        made = pa.Array.from_buffers(pa.binary(), len(values), whole)
        return pc.if_else(array.is_valid(), made, None) if array.null_count else made

    def _numbers(self, array: pa.Array) -> pa.Array:
        try:
            # Finer units than Kafka Connect's are cut off, as its own classes do.
            exact = pc.cast(array, options=pc.CastOptions(self._exact, allow_time_truncate=True))
            return exact.cast(self._type)
        except pa.ArrowInvalid as error:
            raise RecordError(f"Cannot write as AVRO: {error}", row=_first(array)) from None

    def _values(self, array: pa.Array) -> list[Any]:
        values: list[Any] = array.to_pylist()
        if self._shape is None:
            return values
        return [None if value is None else self._shape(value) for value in values]

    def _write_one(self, out: BytesIO, value: Any, row: int) -> None:
        try:
            fastavro.schemaless_writer(out, self._parsed, value)
        except Exception as error:  # whatever the library makes of a value
            why = str(error) or type(error).__name__
            raise RecordError(f"Cannot write as AVRO: {why}", row=row) from error


class AvroColumnReader:
    """Reads columns that were written with one Avro schema."""

    def __init__(self, text: str, side: str) -> None:
        """Misfit if the schema cannot be read."""
        avro = _loaded(text)
        schema = AvroReader().schema(avro)
        self.field = to_field(schema, side)
        self._parsed = parsed(avro)
        self._type = to_type(numbers_only(schema))
        self._shape = _read(schema)
        self._columns = _column_reader(avro, schema)

    def read(self, data: pa.Array) -> pa.Array:
        """Rows of ``field``'s type from bytes with a header; RecordError with the bad row."""
        if self._columns is not None:
            try:
                return self._at_once(self._columns, data).cast(self.field.type)
            except (ByRow, pa.ArrowException):
                pass  # row by row, below, which finds the row
        return self._by_row(data)

    def _at_once(self, read: Read, data: pa.Array) -> pa.Array:
        valid = data.is_valid().to_numpy(zero_copy_only=False)
        offsets = offsets_of(data).astype(np.int64)
        values = np.frombuffer(data.buffers()[2] or b"", np.uint8)
        starts, ends = offsets[:-1][valid] + HEADER_BYTES, offsets[1:][valid]
        return spread(decoded(read, values, starts, ends), valid)

    def _by_row(self, data: pa.Array) -> pa.Array:
        values = self._values(data)
        try:
            return pa.array(values, self._type).cast(self.field.type)
        except (pa.ArrowException, OverflowError, ValueError, TypeError):
            raise self._first_misfit(values) from None

    def _values(self, data: pa.Array) -> list[Any]:
        offsets = offsets_of(data).tolist()
        first = offsets[0]
        whole = BytesIO(memoryview(data.buffers()[2] or b"")[first : offsets[-1]])
        places = zip(offsets, offsets[1:], data.is_valid().to_pylist(), strict=False)
        return [
            self._value(whole, start - first, end - first, row) if valid else None
            for row, (start, end, valid) in enumerate(places)
        ]

    def _value(self, whole: BytesIO, start: int, end: int, row: int) -> Any:
        whole.seek(start + HEADER_BYTES)
        try:
            value = fastavro.schemaless_reader(whole, self._parsed, None)
        except Exception as error:  # whatever the library makes of bytes that are no Avro
            raise _no_avro(f"{type(error).__name__} {error}".strip(), row) from error
        if whole.tell() != end:
            raise _no_avro(f"its {end - start} bytes are not what its schema says", row)
        return value if self._shape is None else self._shape(value)

    def _first_misfit(self, values: list[Any]) -> RecordError:
        for row, value in enumerate(values):
            try:
                pa.array([value], self._type).cast(self.field.type)
            except (pa.ArrowException, OverflowError, ValueError, TypeError) as error:
                return RecordError(f"The record's value does not fit: {error}", row=row)
        raise AssertionError("a column fails only where one of its rows does")


def _column_reader(avro: Any, schema: Schema) -> Read | None:
    try:
        return reader(avro, numbers_only(schema))
    except ByRow:
        return None


def _no_avro(why: str, row: int) -> RecordError:
    return RecordError(f"The record is not Avro of the schema that it names: {why}", row=row)


def parsed(avro: Any) -> Any:
    """What the library reads and writes with; Misfit if it is not a schema."""
    try:
        return fastavro.parse_schema(plain_avro(avro))
    except Exception as error:
        raise Misfit(f"the Avro schema is wrong: {type(error).__name__} {error}") from error


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        # A registry may give the name of a primitive type without quotes.
        return text


def _record_name(avro: Any) -> str | None:
    if isinstance(avro, list):
        avro = next((each for each in avro if isinstance(each, dict)), None)
    if not isinstance(avro, dict) or "name" not in avro:
        return None
    space = avro.get("namespace")
    return f"{space}.{avro['name']}" if space else str(avro["name"])


def numbers_only(schema: Schema) -> Schema:
    """The schema with numbers where it has dates and times."""
    plain = replace(schema, name=None, version=None) if schema.logical in _NUMBERS else schema
    inner = {name: numbers_only(each) for name, each in plain.fields.items()}
    keys, values = plain.key_schema, plain.value_schema
    return replace(
        plain,
        default=None,
        fields=inner,
        key_schema=keys and numbers_only(keys),
        value_schema=values and numbers_only(values),
    )


def _nullable(kind: pa.DataType) -> pa.DataType:
    """The same type with no field in it that must not be null: Avro will say."""
    if pa.types.is_struct(kind):
        fields = [kind.field(n) for n in range(kind.num_fields)]
        return pa.struct([pa.field(each.name, _nullable(each.type)) for each in fields])
    if pa.types.is_map(kind):
        return pa.map_(_nullable(kind.key_type), _nullable(kind.item_type))
    return pa.list_(_nullable(kind.value_type)) if pa.types.is_list(kind) else kind


def _first(array: pa.Array) -> int:
    return int(array.is_valid().index(True).as_py())


def _written(schema: Schema) -> Shape | None:
    """What makes Avro's values of Arrow's: maps, which are lists of pairs there."""
    return _nested(schema, _WRITTEN)


def _read(schema: Schema) -> Shape | None:
    """What makes Arrow's values of Avro's."""
    return _nested(schema, _READ)


@dataclass(frozen=True)
class _Maps:
    """How maps are taken apart and put together."""

    pairs: Shape
    """All pairs of a map."""
    named: Shape
    """A map with names, of pairs."""
    entries: Shape
    """A map without, of pairs."""


_WRITTEN = _Maps(
    lambda pairs: pairs, dict, lambda pairs: [{"key": k, "value": v} for k, v in pairs]
)
_READ = _Maps(
    lambda found: (
        found.items()
        if isinstance(found, dict)
        else [(each["key"], each["value"]) for each in found]
    ),
    list,
    list,
)


def _nested(schema: Schema, maps: _Maps) -> Shape | None:
    match schema.type:
        case SchemaType.ARRAY:
            items = _nested(schema.value_schema or schema, maps)
            return items and (lambda found: [_or_none(items, each) for each in found])
        case SchemaType.STRUCT:
            fields = {n: shape for n, s in schema.fields.items() if (shape := _nested(s, maps))}
            return _in_fields(fields) if fields else None
        case SchemaType.MAP:
            return _in_map(schema, maps)
        case _:
            return None


def _in_map(schema: Schema, maps: _Maps) -> Shape:
    keys = _nested(schema.key_schema or schema, maps) or _same
    values = _nested(schema.value_schema or schema, maps) or _same
    made = maps.named if by_name(schema) else maps.entries
    return lambda found: made(
        [(_or_none(keys, k), _or_none(values, v)) for k, v in maps.pairs(found)]
    )


def _in_fields(fields: dict[str, Shape]) -> Shape:
    def shape(found: dict[str, Any]) -> dict[str, Any]:
        return {**found, **{name: _or_none(each, found[name]) for name, each in fields.items()}}

    return shape


def _same(value: Any) -> Any:
    return value


def _or_none(shape: Shape, value: Any) -> Any:
    return None if value is None else shape(value)
