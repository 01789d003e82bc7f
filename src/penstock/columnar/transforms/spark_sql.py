"""Transforms in Spark SQL: their keys. Spark carries them out, in the turns of the connector."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import pyarrow as pa

from penstock.sdk.config import ConfigDef, ConfigKey, Importance
from penstock.sdk.config_validators import non_empty
from penstock.sdk.errors import ConfigError
from penstock.sdk.sql_expressions import checked_row, checked_rows
from penstock.sdk.transforms import Transform

EXPRESSION, WHERE, SCHEMA = "expression", "where", "schema"
SPARK_SQL_CONFIG = ConfigDef(
    ConfigKey(
        EXPRESSION,
        default="",
        validator=checked_rows,
        importance=Importance.HIGH,
        doc="The fields of the new value: expressions of Spark SQL, with a semicolon between two "
        "of them, over key, value, topic, partition, offset, timestamp and headers. value.* are "
        "the fields of schema. A single expression called value is the value itself. Empty: the "
        "value stays as it is.",
    ),
    ConfigKey(
        WHERE,
        default="",
        validator=checked_row,
        importance=Importance.HIGH,
        doc="A condition over the same columns: records for which it is not true are dropped.",
    ),
    ConfigKey(
        SCHEMA,
        default="STRING",
        validator=non_empty,
        importance=Importance.HIGH,
        doc="What the expressions see of the value: its fields as Spark writes them, such as "
        "id BIGINT, name STRING, or one type. A field that the value lacks is null.",
    ),
)


class SparkSql(Transform):
    """A new value, or a condition, in Spark SQL. The connector then runs as Spark jobs."""

    config_def: ClassVar[ConfigDef] = SPARK_SQL_CONFIG

    def configure(self, config: Mapping[str, str]) -> None:
        parsed = SPARK_SQL_CONFIG.parse(config)
        if not parsed[EXPRESSION].strip() and not parsed[WHERE].strip():
            raise ConfigError("SparkSql needs an expression, a where, or both", key=EXPRESSION)

    def apply(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Refused: the worker takes the transform out of the pipeline, and has Spark do it."""
        raise ConfigError(
            "SparkSql runs in the turns of a worker only: here, use Spark's own select and where"
        )
