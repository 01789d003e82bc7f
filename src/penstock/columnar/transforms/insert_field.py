"""Kafka Connect's InsertField."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import pyarrow as pa

from penstock.columnar.json_text import Misfit
from penstock.columnar.transforms.json_rows import required_map
from penstock.columnar.transforms.sided import PACKAGE, REPLACE_NULL, SidedTransform
from penstock.columnar.transforms.structs import Part, basics, part, parts, rebuilt
from penstock.sdk.config import ConfigDef, ConfigKey, Importance, invalid_value
from penstock.sdk.errors import ConfigError
from penstock.sdk.schema import Schema

_PURPOSE = "field insertion"
_OPTIONALITY = (
    "Suffix with ! to make this a required field, or ? to keep it optional (the default)."
)


def _key(name: str, what: str) -> ConfigKey:
    doc = f"Field name for {what}. {_OPTIONALITY}"
    return ConfigKey(name, default=None, importance=Importance.MEDIUM, doc=doc)


@dataclass(frozen=True)
class _Insertion:
    name: str
    optional: bool
    column: str
    """Where the value comes from; ``static`` is the configuration."""

    def schema(self) -> Schema:
        schema = _SCHEMAS[self.column]
        return replace(schema, optional=self.optional)


_SCHEMAS = {
    "topic": Schema.string(),
    "partition": Schema.int32(),
    "offset": Schema.int64(),
    "timestamp": Schema.timestamp(),
    "static": Schema.string(),
}


class InsertField(SidedTransform):
    """Adds facts about the record, or a fixed text, as fields."""

    passes_nulls: ClassVar[bool] = True
    config_def: ClassVar[ConfigDef] = ConfigDef(
        _key("topic.field", "Kafka topic"),
        _key("partition.field", "Kafka partition"),
        _key("offset.field", "Kafka offset - only applicable to sink connectors"),
        _key("timestamp.field", "record timestamp"),
        _key("static.field", "static data field"),
        ConfigKey(
            "static.value",
            default=None,
            importance=Importance.MEDIUM,
            doc="Static field value, if field name configured.",
        ),
        REPLACE_NULL,
    )

    def configure(self, config: Mapping[str, str]) -> None:
        parsed = self.config_def.parse(config)
        self._static: str | None = parsed["static.value"]
        self._replace_null: bool = parsed["replace.null.with.default"]
        named = {column: parsed[f"{column}.field"] for column in _SCHEMAS}
        self._insertions = [_insertion(c, text) for c, text in named.items() if text is not None]
        if not self._insertions:
            raise ConfigError("No field insertion configured")
        if named["static"] is not None and self._static is None:
            why = f"No value specified for static field: {named['static']}"
            raise invalid_value("static.value", None, why)

    def structured(
        self, array: pa.Array, schema: Schema, batch: pa.RecordBatch
    ) -> tuple[pa.Array, Schema]:
        made = parts(array, _PURPOSE, replace_null=self._replace_null)
        made += [self._inserted(insertion, batch) for insertion in self._insertions]
        return rebuilt(made, array), replace(
            basics(schema), fields={p.name: p.schema for p in made}
        )

    def _inserted(self, insertion: _Insertion, batch: pa.RecordBatch) -> Part:
        return part(insertion.name, insertion.schema(), self._values(insertion, batch))

    def _values(self, insertion: _Insertion, batch: pa.RecordBatch) -> pa.Array:
        match insertion.column:
            case "static":
                return pa.repeat(pa.scalar(self._static, pa.string()), batch.num_rows)
            case "topic":
                topics = batch.column("topic")
                return topics.dictionary.take(topics.indices)
            case "timestamp":
                return batch.column("timestamp").cast(pa.timestamp("ms", tz="UTC"))
            case _:
                return _column(batch, insertion.column)

    def schemaless(self, value: Any, row: int, batch: pa.RecordBatch) -> Any:
        if value is None:
            return None
        return {**required_map(value, _PURPOSE), **dict(self._facts(row, batch))}

    def _facts(self, row: int, batch: pa.RecordBatch) -> Iterator[tuple[str, Any]]:
        for insertion in self._insertions:
            if insertion.column == "static":
                fact = self._static
            else:
                fact = _column(batch, insertion.column)[row].as_py()
            if fact is not None:
                yield insertion.name, fact


def _insertion(column: str, text: str) -> _Insertion:
    name = text[:-1] if text.endswith(("?", "!")) else text
    return _Insertion(name, not text.endswith("!"), column)


def _column(batch: pa.RecordBatch, name: str) -> pa.Array:
    if name not in batch.schema.names:
        raise Misfit("Offset insertion is only supported for sink connectors")
    return batch.column(name)


class InsertFieldKey(InsertField):
    """Fields of the key."""

    side: ClassVar[str] = "key"
    connect_class: ClassVar[str] = f"{PACKAGE}.InsertField$Key"


class InsertFieldValue(InsertField):
    """Fields of the value."""

    connect_class: ClassVar[str] = f"{PACKAGE}.InsertField$Value"
