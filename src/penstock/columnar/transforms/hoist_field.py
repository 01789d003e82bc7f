"""Kafka Connect's HoistField."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import orjson
import pyarrow as pa
from pyarrow import compute

from penstock.columnar.transforms.json_rows import json_array, json_texts
from penstock.columnar.transforms.sided import PACKAGE, SidedTransform
from penstock.columnar.transforms.structs import Part
from penstock.columnar.transforms.structs import joined as joined_parts
from penstock.sdk.config import ConfigDef, ConfigKey, Importance
from penstock.sdk.schema import Schema, described, from_field


class HoistField(SidedTransform):
    """The whole key or value as the only field of a struct, or of a map if it has no schema."""

    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(
            "field",
            importance=Importance.MEDIUM,
            doc="Field name for the single field that will be created in the resulting Struct or "
            "Map.",
        )
    )

    def configure(self, config: Mapping[str, str]) -> None:
        self._field: str = self.config_def.parse(config)["field"]

    def apart(self, batch: pa.RecordBatch) -> pa.BooleanArray | None:
        """Nulls without a schema become a map, also among records that become structs."""
        column = batch.column(self.side)
        schema = from_field(batch.schema.field(self.side))
        if not column.null_count or schema is None or schema.optional:
            return None
        return column.is_null()

    def structured(
        self, array: pa.Array, schema: Schema, batch: pa.RecordBatch
    ) -> tuple[pa.Array, Schema]:
        plain = pa.field(self._field, array.type, nullable=schema.optional)
        made = joined_parts([Part(described(plain, schema), array)], None)
        return made, Schema.struct({self._field: schema})

    def schemaless_column(self, array: pa.Array, batch: pa.RecordBatch) -> pa.Array:
        name = orjson.dumps(self._field).decode()
        texts = json_texts(array).fill_null("null")
        return json_array(compute.binary_join_element_wise(f"{{{name}:", texts, "}", ""))

    def schemaless(self, value: Any, row: int, batch: pa.RecordBatch) -> Any:
        return {self._field: value}


class HoistFieldKey(HoistField):
    """The key as a field."""

    side: ClassVar[str] = "key"
    connect_class: ClassVar[str] = f"{PACKAGE}.HoistField$Key"


class HoistFieldValue(HoistField):
    """The value as a field."""

    connect_class: ClassVar[str] = f"{PACKAGE}.HoistField$Value"
