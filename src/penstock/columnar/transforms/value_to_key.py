"""Kafka Connect's ValueToKey."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import pyarrow as pa

from penstock.columnar.json_text import Misfit
from penstock.columnar.transforms.json_rows import required_map
from penstock.columnar.transforms.sided import PACKAGE, REPLACE_NULL, SidedTransform, refuse_nulls
from penstock.columnar.transforms.structs import joined, parts
from penstock.sdk.config import ConfigDef, ConfigKey, Importance, Type
from penstock.sdk.config_validators import non_empty
from penstock.sdk.schema import Schema

_PURPOSE = "copying fields from value to key"


class ValueToKey(SidedTransform):
    """A key that is made of fields of the value."""

    connect_class: ClassVar[str] = f"{PACKAGE}.ValueToKey"
    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(
            "fields",
            Type.LIST,
            validator=non_empty,
            importance=Importance.HIGH,
            doc="Field names on the record value to extract as the record key.",
        ),
        REPLACE_NULL,
    )

    def configure(self, config: Mapping[str, str]) -> None:
        parsed = self.config_def.parse(config)
        self._fields: list[str] = parsed["fields"]
        self._replace_null: bool = parsed["replace.null.with.default"]

    def apply(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """What the value would become goes into the key's column instead."""
        made = super().apply(batch)
        field = made.schema.field("value").with_name("key")
        at = batch.schema.get_field_index("key")
        return batch.set_column(at, field, made.column("value"))

    def structured(
        self, array: pa.Array, schema: Schema, batch: pa.RecordBatch
    ) -> tuple[pa.Array, Schema]:
        refuse_nulls(array, f"Only Struct objects supported for [{_PURPOSE}], found: null")
        found = {p.name: p for p in parts(array, _PURPOSE, replace_null=self._replace_null)}
        missing = next((name for name in self._fields if name not in found), None)
        if missing is not None:
            raise Misfit(f"Field does not exist: {missing}")
        chosen = [found[name] for name in self._fields]
        return joined(chosen, None), Schema.struct({p.name: p.schema for p in chosen})

    def schemaless(self, value: Any, row: int, batch: pa.RecordBatch) -> Any:
        there = required_map(value, _PURPOSE)
        return {name: there.get(name) for name in self._fields}
