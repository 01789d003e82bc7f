"""Kafka Connect's SetSchemaMetadata."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import pyarrow as pa

from penstock.columnar.json_text import Misfit
from penstock.columnar.transforms.sided import PACKAGE, REPLACE_NULL, SidedTransform
from penstock.columnar.transforms.structs import parts, rebuilt
from penstock.sdk.config import ConfigDef, ConfigKey, Importance, Type
from penstock.sdk.errors import ConfigError
from penstock.sdk.schema import Schema


class SetSchemaMetadata(SidedTransform):
    """The name or version, or both, of the schema."""

    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(
            "schema.name", default=None, importance=Importance.HIGH, doc="Schema name to set."
        ),
        ConfigKey(
            "schema.version",
            Type.INT,
            default=None,
            importance=Importance.HIGH,
            doc="Schema version to set.",
        ),
        REPLACE_NULL,
    )

    def configure(self, config: Mapping[str, str]) -> None:
        parsed = self.config_def.parse(config)
        wanted = {"name": parsed["schema.name"], "version": parsed["schema.version"]}
        self._metadata: dict[str, Any] = {k: v for k, v in wanted.items() if v is not None}
        self._replace_null: bool = parsed["replace.null.with.default"]
        if not self._metadata:
            raise ConfigError("Neither schema name nor version configured")

    def structured(
        self, array: pa.Array, schema: Schema, batch: pa.RecordBatch
    ) -> tuple[pa.Array, Schema]:
        if pa.types.is_struct(array.type) and self._replace_null:
            array = rebuilt(parts(array, "updating schema metadata"), array)
        return array, replace(schema, **self._metadata)

    def schemaless(self, value: Any, row: int, batch: pa.RecordBatch) -> Any:
        if value is not None:
            raise Misfit("Schema required for [updating schema metadata]")


class SetSchemaMetadataKey(SetSchemaMetadata):
    """Of the key's schema."""

    side: ClassVar[str] = "key"
    connect_class: ClassVar[str] = f"{PACKAGE}.SetSchemaMetadata$Key"


class SetSchemaMetadataValue(SetSchemaMetadata):
    """Of the value's schema."""

    connect_class: ClassVar[str] = f"{PACKAGE}.SetSchemaMetadata$Value"
