"""Kafka Connect's DropHeaders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import pyarrow as pa

from penstock.columnar.transforms.header_columns import without_headers
from penstock.columnar.transforms.sided import PACKAGE
from penstock.sdk.config import ConfigDef, ConfigKey, Importance, Type
from penstock.sdk.config_validators import non_empty
from penstock.sdk.transforms import Transform


class DropHeaders(Transform):
    """Takes headers out by name."""

    connect_class: ClassVar[str] = f"{PACKAGE}.DropHeaders"
    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(
            "headers",
            Type.LIST,
            validator=non_empty,
            importance=Importance.HIGH,
            doc="The name of the headers to be removed.",
        )
    )

    def configure(self, config: Mapping[str, str]) -> None:
        self._names: list[str] = self.config_def.parse(config)["headers"]

    def apply(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        at = batch.schema.get_field_index("headers")
        left = without_headers(batch.column(at), self._names)
        return batch.set_column(at, batch.schema.field(at), left)
