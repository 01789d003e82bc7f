"""SQL's columns as schemas of Kafka Connect, which the Avro converter writes, and back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from penstock.sdk.schema import DATE, DECIMAL, TIMESTAMP, Schema, SchemaType
from penstock.sql.errors import NotSupportedYet, StatementError
from penstock.sql.statements.types import VARCHAR, ColumnDef, SqlType

NAME = "io.confluent.ksql.avro_schemas.KsqlDataSourceSchema"
"""What ksqlDB calls the records that it writes."""
MAKERS = {
    "BOOLEAN": Schema.boolean,
    "INTEGER": Schema.int32,
    "BIGINT": Schema.int64,
    "DOUBLE": Schema.float64,
    "VARCHAR": Schema.string,
    "BYTES": Schema.bytes,
    "DATE": Schema.date,
    "TIMESTAMP": Schema.timestamp,
}
PLAIN = {
    SchemaType.INT8: "INTEGER",
    SchemaType.INT16: "INTEGER",
    SchemaType.INT32: "INTEGER",
    SchemaType.INT64: "BIGINT",
    SchemaType.FLOAT32: "DOUBLE",
    SchemaType.FLOAT64: "DOUBLE",
    SchemaType.BOOLEAN: "BOOLEAN",
    SchemaType.STRING: "VARCHAR",
    SchemaType.BYTES: "BYTES",
}
NAMED = {DATE: "DATE", TIMESTAMP: "TIMESTAMP"}
WIDEST = 38
PRECISION = "connect.decimal.precision"
"""The parameter that says how many digits a decimal has."""


def record_schema(columns: Sequence[ColumnDef]) -> Schema:
    """Of a value, or of a key with several columns."""
    return Schema.struct(_fields(NAME, [(c.name, c.type) for c in columns]), name=NAME)


def key_schema(columns: Sequence[ColumnDef]) -> Schema:
    """Of a key: one column stands for itself, and is there."""
    if len(columns) > 1:
        return record_schema(columns)
    return replace(_schema(columns[0].type, NAME), optional=False)


def _schema(kind: SqlType, name: str) -> Schema:
    if kind.name in MAKERS:
        return MAKERS[kind.name](optional=True)
    if kind.name == "DECIMAL":
        precision, scale = kind.precision or (WIDEST, 0)
        told = {"scale": str(scale), PRECISION: str(precision)}
        return replace(Schema.decimal(scale, optional=True), parameters=told)
    if kind.name == "ARRAY":
        return Schema.array(_schema(kind.arguments[0], name), optional=True)
    if kind.name == "MAP":
        return Schema.map(Schema.string(), _schema(kind.arguments[1], name), optional=True)
    if kind.name == "STRUCT":
        return Schema.struct(_fields(name, kind.fields), optional=True, name=name)
    raise NotSupportedYet(f"format AVRO with a column of type {kind}")


def _fields(record: str, fields: Sequence[tuple[str, SqlType]]) -> dict[str, Schema]:
    for name, _ in fields:
        if not (name.isascii() and name.isidentifier()):
            raise StatementError(
                f"AVRO has no name {name}: there are letters without accents, digits and _. "
                "Name the column with AS, or choose JSON."
            )
    return {name: _schema(kind, f"{record}_{name}") for name, kind in fields}


def columns_of(text: str) -> tuple[ColumnDef, ...]:
    """The columns of an Avro record; none if it is something else. Misfit if it is not a schema."""
    schema = read(text)
    if schema.type is not SchemaType.STRUCT:
        return ()
    return tuple(ColumnDef(name, type_of(each)) for name, each in schema.fields.items())


def read(text: str) -> Schema:
    """An Avro schema; Misfit if it cannot be read."""
    from penstock.registry.avro_reading import AvroReader

    try:
        avro = json.loads(text)
    except ValueError:
        avro = text  # the name of a primitive type
    return AvroReader().schema(avro)


def type_of(schema: Schema) -> SqlType:
    """SQL's type of a field."""
    if schema.logical == DECIMAL:
        return SqlType("DECIMAL", precision=(_precision(schema), schema.scale))
    if schema.logical in NAMED:
        return SqlType(NAMED[schema.logical])
    if schema.type is SchemaType.STRUCT:
        fields = tuple((name, type_of(each)) for name, each in schema.fields.items())
        return SqlType("STRUCT", fields=fields)
    if schema.type is SchemaType.ARRAY and schema.value_schema is not None:
        return SqlType("ARRAY", (type_of(schema.value_schema),))
    if schema.type is SchemaType.MAP and schema.value_schema is not None:
        return SqlType("MAP", (VARCHAR, type_of(schema.value_schema)))
    return SqlType(PLAIN[schema.type])


def _precision(schema: Schema) -> int:
    return min(int(schema.parameters.get(PRECISION, WIDEST)), WIDEST)
