"""Rows of a DataFrame as records: which column is the topic, the key, the value, …"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from penstock.sdk.batches import TOPIC, record_batch
from penstock.sdk.errors import ConfigError, RecordError
from penstock.sdk.offsets import SourceOffset, SourcePartition
from penstock.sdk.transformers.parquet_rows import as_held

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

BROKEN = "__broken"
"""The column with the text of a row that Spark could not read."""
ONE_TO_ONE: Final = frozenset(
    {"Project", "LogicalRelation", "SubqueryAlias", "View", "Filter", "Sort", "Repartition"}
)
"""Nodes of a plan that make one row of one, or none."""
CAST = {"topic": "string", "partition": "int", "timestamp": "bigint"}


@dataclass(frozen=True)
class RecordColumns:
    """What the configuration says about records. Empty: there is no such column."""

    topic: str
    """The topic itself, unless a column says it."""
    topic_column: str = ""
    key: str = ""
    value: str = ""
    partition: str = ""
    timestamp: str = ""

    @property
    def named(self) -> dict[str, str]:
        """The parts of a record that a column gives, and its name."""
        parts = {
            "topic": self.topic_column,
            "key": self.key,
            "partition": self.partition,
            "timestamp": self.timestamp,
        }
        return {part: name for part, name in parts.items() if name}


def record_frame(rows: DataFrame, columns: RecordColumns, beside: Sequence[str]) -> DataFrame:
    """``rows`` with a column for each part of a record, and those of ``beside`` as they are.

    ConfigError if a column that the configuration names is not there.
    """
    from pyspark.sql import functions as sql

    fields = [name for name in rows.columns if name not in beside]
    for name in (*columns.named.values(), *filter(None, [columns.value])):
        if name not in fields:
            raise ConfigError(f"there is no column {name}: there are {', '.join(fields)}")
    types = {field.name: field.dataType.simpleString() for field in rows.schema.fields}
    made = [rows[quoted(name)] for name in beside]
    for part, name in columns.named.items():
        column = rows[quoted(name)]
        if part == "timestamp" and types[name] in ("timestamp", "date", "timestamp_ntz"):
            column = sql.unix_millis(column.cast("timestamp"))
        made.append((column.cast(CAST[part]) if part in CAST else column).alias(part))
    whole = sql.struct(*(rows[quoted(name)] for name in fields)) if fields else sql.lit(None)
    value = rows[quoted(columns.value)] if columns.value else whole
    return rows.select(*made, value.alias("value"))


def refuse_unless_one_to_one(frame: DataFrame) -> None:
    """ConfigError for expressions that make several rows of one, or one of several."""
    names = [str(name) for name in _nodes(frame._jdf.queryExecution().analyzed())]
    found = next((name for name in names if name not in ONE_TO_ONE), None)
    if found is not None:
        raise ConfigError(
            f"select does not make one record of one row ({found}): leave out explode, "
            "aggregates and windows",
            key="select",
        )


def _nodes(plan: Any) -> list[Any]:
    children = plan.children()
    below = [_nodes(children.apply(index)) for index in range(children.size())]
    return [plan.nodeName(), *(name for each in below for name in each)]


def selected(fields: Sequence[str], select: Sequence[str]) -> list[str]:
    """The expressions of ``select``, with the columns in the place of a star."""
    every = [quoted(name) for name in fields]
    return [each for wanted in select for each in (every if wanted == "*" else [wanted])]


def quoted(name: str) -> str:
    """A column's name as expressions have it."""
    return "`" + name.replace("`", "``") + "`"


@dataclass(frozen=True)
class RowRecords:
    """Makes Arrow batches of records of those of ``record_frame``. Picklable."""

    topic: str

    def made(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """The records of these rows; RecordError if one has no topic."""
        names = rows.schema.names
        given: dict[str, Any] = {
            part: rows.column(part) for part in ("partition", "timestamp") if part in names
        }
        value, value_field = as_held(rows.column("value"), rows.schema.field("value"))
        if "key" in names:
            given["key"], given["key_field"] = as_held(rows.column("key"), rows.schema.field("key"))
        return record_batch(self._topics(rows), value, value_field=value_field, **given)

    def _topics(self, rows: pa.RecordBatch) -> str | pa.Array:
        if "topic" not in rows.schema.names:
            return self.topic
        topics = rows.column("topic")
        if topics.null_count:
            topics = topics.fill_null(self.topic)
        return topics.dictionary_encode().cast(TOPIC)

    def broken(
        self, row: pa.RecordBatch, partition: SourcePartition, offset: SourceOffset | None
    ) -> RecordError:
        """A row that Spark could not read, with the offset that passes it."""
        text = str(row.column(BROKEN)[0].as_py())
        return RecordError(
            f"Spark cannot read this as a row: {text[:200]}",
            data=text.encode(),
            source_partition=partition,
            source_offset=offset,
        )
