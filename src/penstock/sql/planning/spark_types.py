"""SQL's types as Spark's, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from penstock.sql.errors import NotSupportedYet, StatementError, nearest
from penstock.sql.statements.types import SIMPLE, ColumnDef, SqlType

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

SPARK = {
    "BOOLEAN": "BOOLEAN",
    "INTEGER": "INT",
    "BIGINT": "BIGINT",
    "DOUBLE": "DOUBLE",
    "VARCHAR": "STRING",
    "BYTES": "BINARY",
    "DATE": "DATE",
    "TIMESTAMP": "TIMESTAMP",
}
SQL = {
    **{spark.lower(): sql for sql, spark in SPARK.items()},
    "float": "DOUBLE",
    "smallint": "INTEGER",
    "tinyint": "INTEGER",
    "void": "VARCHAR",
}

STORED = {
    "boolean": "BOOLEAN",
    "byte": "INTEGER",
    "short": "INTEGER",
    "integer": "INTEGER",
    "long": "BIGINT",
    "float": "DOUBLE",
    "double": "DOUBLE",
    "string": "VARCHAR",
    "void": "VARCHAR",
    "binary": "BYTES",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
}


def spark_type(kind: SqlType) -> str:
    """Spark's name of a type."""
    if kind.name in SPARK:
        return SPARK[kind.name]
    if kind.name == "DECIMAL":
        precision, scale = kind.precision or (38, 0)
        return f"DECIMAL({precision}, {scale})"
    if kind.name == "STRUCT":
        fields = ", ".join(f"{quoted(name)}: {spark_type(each)}" for name, each in kind.fields)
        return f"STRUCT<{fields}>"
    if kind.arguments:
        return f"{kind.name}<{', '.join(map(spark_type, kind.arguments))}>"
    raise NotSupportedYet(f"columns of type {kind}")


def sql_type(spark: str) -> str:
    """SQL's name of a type of Spark's."""
    return SQL.get(spark, spark.upper())


def declared_type(spark: DataType) -> SqlType:
    """SQL's type that a type of Spark's is kept as."""
    name, found = spark.typeName(), spark.jsonValue()
    if name == "decimal":
        return SqlType("DECIMAL", precision=(vars(spark)["precision"], vars(spark)["scale"]))
    if name == "array":
        return SqlType("ARRAY", (declared_type(vars(spark)["elementType"]),))
    if name == "map":
        inner = (declared_type(vars(spark)[part]) for part in ("keyType", "valueType"))
        return SqlType("MAP", tuple(inner))
    if name == "struct":
        fields = vars(spark)["fields"]
        return SqlType("STRUCT", fields=tuple((f.name, declared_type(f.dataType)) for f in fields))
    if name not in STORED:
        raise NotSupportedYet(f"columns of Spark's type {found}")
    return SqlType(STORED[name])


def quoted(name: str) -> str:
    """A name as Spark takes it."""
    return "`" + name.replace("`", "``") + "`"


def text(value: str) -> str:
    """A text as Spark takes it."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def resolved(columns: tuple[ColumnDef, ...], types: Mapping[str, SqlType]) -> tuple[ColumnDef, ...]:
    """Columns without types that someone created: what those stand for is put in their place."""
    return tuple(ColumnDef(c.name, resolved_type(c.type, types), c.role, c.header) for c in columns)


def resolved_type(kind: SqlType, types: Mapping[str, SqlType]) -> SqlType:
    """The same for a type."""
    if kind.name == "STRUCT":
        fields = tuple((name, resolved_type(each, types)) for name, each in kind.fields)
        return SqlType("STRUCT", fields=fields)
    if kind.name in ("ARRAY", "MAP") and kind.arguments:
        return SqlType(kind.name, tuple(resolved_type(each, types) for each in kind.arguments))
    if kind.name in SIMPLE:
        return kind
    found = next((t for name, t in types.items() if name.upper() == kind.name.upper()), None)
    if found is None:
        hint = nearest(kind.name, [*SIMPLE, "ARRAY", "MAP", "STRUCT", *types])
        raise StatementError(f"There is no type {kind.name}.{hint}")
    return found
