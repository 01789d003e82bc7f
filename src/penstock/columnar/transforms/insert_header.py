"""Kafka Connect's InsertHeader."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import pyarrow as pa

from penstock.columnar.transforms.header_columns import with_headers
from penstock.columnar.transforms.sided import PACKAGE
from penstock.sdk.config import ConfigDef, ConfigKey, Importance
from penstock.sdk.header_values import header_text, read_header
from penstock.sdk.transforms import Transform


class InsertHeader(Transform):
    """One more header, the same for every record.

    The literal has the type that SimpleHeaderConverter would find in it, and is written as that.
    """

    connect_class: ClassVar[str] = f"{PACKAGE}.InsertHeader"
    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(
            "header",
            importance=Importance.HIGH,
            doc="The name of the header.",
        ),
        ConfigKey(
            "value.literal",
            importance=Importance.HIGH,
            doc="The literal value that is to be set as the header value on all records.",
        ),
    )

    def configure(self, config: Mapping[str, str]) -> None:
        parsed = self.config_def.parse(config)
        self._name: str = parsed["header"]
        text = header_text(*read_header(parsed["value.literal"].encode()))
        self._value = None if text is None else text.encode()

    def apply(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        at = batch.schema.get_field_index("headers")
        values = pa.repeat(pa.scalar(self._value, pa.binary()), batch.num_rows)
        made = with_headers(batch.column(at), [self._name], [values])
        return batch.set_column(at, batch.schema.field(at), made)
