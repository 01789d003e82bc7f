"""Kafka Connect's ExtractField."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import pyarrow as pa

from penstock.columnar.transforms.field_paths import SYNTAX_VERSION, FieldPath
from penstock.columnar.transforms.json_rows import required_map
from penstock.columnar.transforms.sided import PACKAGE, REPLACE_NULL, SidedTransform
from penstock.sdk.config import ConfigDef, ConfigKey, Importance
from penstock.sdk.schema import Schema

_PURPOSE = "field extraction"


class ExtractField(SidedTransform):
    """One field in place of the struct or map that holds it. Null stays null."""

    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey("field", importance=Importance.MEDIUM, doc="Field name to extract."),
        SYNTAX_VERSION,
        REPLACE_NULL,
    )

    def configure(self, config: Mapping[str, str]) -> None:
        parsed = self.config_def.parse(config)
        self._path = FieldPath(parsed["field"], parsed["field.syntax.version"])
        self._replace_null: bool = parsed["replace.null.with.default"]

    def structured(
        self, array: pa.Array, schema: Schema, batch: pa.RecordBatch
    ) -> tuple[pa.Array, Schema]:
        found = self._path.part(array, _PURPOSE, replace_null=self._replace_null)
        return found.array, found.schema

    def schemaless(self, value: Any, row: int, batch: pa.RecordBatch) -> Any:
        return None if value is None else self._path.value(required_map(value, _PURPOSE))


class ExtractFieldKey(ExtractField):
    """A field of the key."""

    side: ClassVar[str] = "key"
    connect_class: ClassVar[str] = f"{PACKAGE}.ExtractField$Key"


class ExtractFieldValue(ExtractField):
    """A field of the value."""

    connect_class: ClassVar[str] = f"{PACKAGE}.ExtractField$Value"
