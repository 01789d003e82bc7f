"""Struct columns, taken apart into their fields and put together again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import pyarrow as pa
from pyarrow import compute

from penstock.columnar.json_text import Misfit
from penstock.sdk.schema import Schema, SchemaType, described, from_field, to_inner_field, to_type


@dataclass(frozen=True)
class Part:
    """One field of a struct column: its values and their schema. Null where the struct is."""

    field: pa.Field
    array: pa.Array

    @property
    def name(self) -> str:
        return str(self.field.name)

    @property
    def schema(self) -> Schema:
        return schema_of(self.field)

    def renamed(self, name: str) -> Part:
        return Part(self.field.with_name(name), self.array)

    def filled(self, structs: pa.Array) -> Part:
        """With the schema's default in place of null, as Kafka Connect's ``Struct.get`` has it.

        Not where ``structs``, which it is a field of, is null itself.
        """
        default = self.schema.default if self.array.null_count else None
        if default is None:
            return self
        both = pa.concat_arrays([self.array, pa.array([default], self.array.type)])
        rows = compute.if_else(self.array.is_valid(), pa.array(range(len(structs))), len(structs))
        return Part(self.field, both.take(compute.if_else(structs.is_valid(), rows, None)))


def part(name: str, schema: Schema, array: pa.Array) -> Part:
    """A new field of a struct column."""
    return Part(to_inner_field(schema, name), array)


def schema_of(field: pa.Field) -> Schema:
    """The schema of a field that has one: inside of a struct, every field has."""
    schema = from_field(field)
    return schema if schema is not None else Schema.string(optional=True)


def parts(array: pa.Array, purpose: str, *, replace_null: bool = True) -> list[Part]:
    """The fields of a struct column; ``Misfit`` if it is none.

    With ``replace_null``, a null field with a default is that default.
    """
    if not pa.types.is_struct(array.type):
        raise Misfit(f"Only Struct objects supported for [{purpose}], found: {array.type}")
    found = [Part(array.type.field(n), column) for n, column in enumerate(array.flatten())]
    return [each.filled(array) for each in found] if replace_null else found


def joined(made: Iterable[Part], nulls: pa.Array | None) -> pa.Array:
    """A struct column of these fields; ``nulls`` says which rows are null."""
    children = list(made)
    _refuse_twins(children)
    kind = pa.struct([each.field for each in children])
    if not children:
        raise Misfit("a struct without fields")
    return pa.StructArray.from_arrays(
        [each.array for each in children], fields=list(kind), mask=nulls
    )


def empty_structs(rows: int, nulls: pa.Array | None) -> pa.Array:
    """A struct column without any fields."""
    absent = [False] * rows if nulls is None else nulls.to_pylist()
    return pa.array([None if null else {} for null in absent], pa.struct([]))


def rebuilt(made: Iterable[Part], like: pa.Array) -> pa.Array:
    """A struct column of these fields, null where ``like`` is."""
    children = list(made)
    nulls = like.is_null() if like.null_count else None
    return joined(children, nulls) if children else empty_structs(len(like), nulls)


def _refuse_twins(children: list[Part]) -> None:
    names = [each.name for each in children]
    twin = next((name for name in names if names.count(name) > 1), None)
    if twin is not None:
        raise Misfit(f"Cannot create field because of field name duplication {twin}")


def column_field(name: str, array: pa.Array, schema: Schema) -> pa.Field:
    """The field of a key or value column: nullable, since a record may have no key or value."""
    return described(pa.field(name, array.type, nullable=True), schema)


def basics(schema: Schema, kind: SchemaType = SchemaType.STRUCT) -> Schema:
    """Name, version, doc and parameters of ``schema``, on another type.

    As Kafka Connect's transforms copy a schema: it is not optional and has no default any more.
    """
    return replace(
        Schema(kind),
        name=schema.name,
        version=schema.version,
        doc=schema.doc,
        parameters=schema.parameters,
    )


def constant(value: object, schema: Schema, rows: int) -> pa.Array:
    """A column with the same value in every row."""
    return pa.repeat(pa.scalar(value, to_type(schema)), rows)
