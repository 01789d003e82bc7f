"""Records with bytes in them to records with columns, by Spark's own functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from penstock.sdk.errors import ConfigError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

Form = Literal["bytes", "string", "json"]
FORMS: tuple[Form, ...] = get_args(Form)
BROKEN = "_broken"
UNREADABLE = "penstock cannot read the value of"
"""What a job fails with; a topic, a partition and an offset follow."""


@dataclass(frozen=True)
class Decoding:
    """How values are read. Keys are text, null where there is none."""

    value: Form = "string"
    schema: str = ""
    """The fields of JSON values, as Spark writes them: ``id BIGINT, name STRING``."""

    def __post_init__(self) -> None:
        if (self.value == "json") != bool(self.schema):
            raise ConfigError(
                "JSON values need a schema, such as id BIGINT, name STRING; no others do",
                key="value.schema",
            )


def decoded(records: DataFrame, decoding: Decoding) -> DataFrame:
    """``records`` of a topic with ``key`` and ``value`` decoded, and their other columns.

    A value that cannot be read ends the job, which names the record. It is not null: that would be
    a record lost without a word.
    """
    from pyspark.sql import functions as sql

    columns = {"key": sql.col("key").cast("string"), "value": _value(decoding)}
    return records.withColumns(columns)


def _value(decoding: Decoding) -> Column:
    from pyspark.sql import functions as sql

    if decoding.value == "bytes":
        return sql.col("value")
    text = sql.col("value").cast("string")
    return text if decoding.value == "string" else _json(text, decoding.schema)


def _json(text: Column, schema: str) -> Column:
    from pyspark.sql import functions as sql

    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": BROKEN}
    parsed = sql.from_json(text, f"{schema}, {BROKEN} STRING", options)
    return sql.when(parsed[BROKEN].isNotNull(), sql.raise_error(_where())).otherwise(
        parsed.dropFields(BROKEN)
    )


def _where() -> Column:
    from pyspark.sql import functions as sql

    return sql.concat(
        sql.lit(UNREADABLE + " "),
        sql.concat_ws("-", sql.col("topic"), sql.col("partition")),
        sql.lit(" at offset "),
        sql.col("offset"),
    )
