"""Records with bytes in them to records with columns, by Spark's own functions or by converters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, get_args

from penstock.sdk.errors import ConfigError
from penstock.sdk.frames import FrameTurn

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

Form = Literal["bytes", "string", "json", "csv", "converter"]
FORMS: tuple[Form, ...] = get_args(Form)
PARSED: Final = ("json", "csv")
"""Texts that need a schema, and may be broken."""
BROKEN = "_broken"
KEY, VALUE, ERROR = "converted_key", "converted_value", "error"
"""The names that ``FrameTurn.converted`` has for them."""
REST: Final = ("topic", "partition", "offset", "timestamp", "headers")


@dataclass(frozen=True)
class Decoding:
    """How values are read. Keys are text, null where there is none."""

    value: Form = "string"
    schema: str = ""
    """The fields of values, as Spark writes them: ``id BIGINT, name STRING``."""
    delimiter: str = ","
    """Between the fields of CSV."""

    def __post_init__(self) -> None:
        if self.value in PARSED and not self.schema:
            raise ConfigError(
                f"{self.value.upper()} values need a schema, such as id BIGINT, name STRING",
                key="value.schema",
            )
        if self.schema and self.value not in (*PARSED, "converter"):
            raise ConfigError(
                f"{self.value} values have no schema: leave it out, or set value.format",
                key="value.schema",
            )


def decoded(records: DataFrame, decoding: Decoding, turn: FrameTurn) -> DataFrame:
    """``records`` with ``KEY`` and ``VALUE``, and ``ERROR`` if a value can be unreadable."""
    from pyspark.sql import functions as sql

    if decoding.value == "converter":
        assert turn.converted is not None  # noqa: S101 (the turn ends in a format)
        read: DataFrame = turn.converted(records, decoding.schema or "STRING")
        return read
    key = sql.col("key").cast("string")
    if decoding.value not in PARSED:
        raw = sql.col("value")
        value = raw if decoding.value == "bytes" else raw.cast("string")
        return records.withColumns({KEY: key, VALUE: value})
    read = records.withColumn("_parsed", _parsed(decoding))
    broken = sql.col(f"_parsed.{BROKEN}").isNotNull()
    error = sql.lit(f"the value is not {decoding.value.upper()} of the schema, {decoding.schema}")
    value = sql.col("_parsed").dropFields(BROKEN)
    added = {KEY: key, VALUE: value, ERROR: sql.when(broken, error)}
    return read.withColumns(added).drop("_parsed")


def _parsed(decoding: Decoding) -> Column:
    """A struct with what was wrong as ``BROKEN``."""
    from pyspark.sql import functions as sql

    text, schema = sql.col("value").cast("string"), f"{decoding.schema}, {BROKEN} STRING"
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": BROKEN}
    if decoding.value == "json":
        return sql.from_json(text, schema, options)
    return sql.from_csv(text, schema, {**options, "sep": decoding.delimiter})


def readable(decoded: DataFrame) -> DataFrame:
    """What expressions see of records: as Spark's Kafka source has them, but decoded."""
    from pyspark.sql import functions as sql

    rest = [name for name in REST if name in decoded.columns]
    return decoded.select(sql.col(KEY).alias("key"), sql.col(VALUE).alias("value"), *rest)
