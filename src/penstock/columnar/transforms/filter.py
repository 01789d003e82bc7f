"""Kafka Connect's Filter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import pyarrow as pa

from penstock.columnar.transforms.sided import PACKAGE
from penstock.sdk.config import ConfigDef
from penstock.sdk.transforms import Transform


class Filter(Transform):
    """Drops every record it is given: a predicate says which those are."""

    connect_class: ClassVar[str] = f"{PACKAGE}.Filter"
    config_def: ClassVar[ConfigDef] = ConfigDef()

    def configure(self, config: Mapping[str, str]) -> None:
        self.config_def.parse(config)

    def apply(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return batch.slice(0, 0)
