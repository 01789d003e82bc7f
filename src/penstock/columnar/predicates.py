"""Kafka Connect's predicates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from pyarrow import compute

from penstock.columnar.java_regex import compiled, java_regex
from penstock.sdk.config import ConfigDef, ConfigKey
from penstock.sdk.config_validators import non_empty
from penstock.sdk.predicates import Predicate

_PACKAGE = "org.apache.kafka.connect.transforms.predicates"


def _pattern(name: str, value: Any) -> None:
    non_empty(name, value)
    java_regex(name, value)


class TopicNameMatches(Predicate):
    """Records whose topic matches as a whole. Works on each topic once, whatever the rows."""

    connect_class: ClassVar[str] = f"{_PACKAGE}.TopicNameMatches"
    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(
            "pattern",
            validator=_pattern,
            doc="A Java regular expression for matching against the name of a record's topic.",
        )
    )

    def configure(self, config: Mapping[str, str]) -> None:
        self._pattern = compiled(self.config_def.parse(config)["pattern"])

    def test(self, batch: pa.RecordBatch) -> pa.BooleanArray:
        topics = batch.column("topic")
        names = topics.dictionary.to_pylist()
        matching = [self._pattern.fullmatch(name) is not None for name in names]
        return pa.array(matching, pa.bool_()).take(topics.indices)


class HasHeaderKey(Predicate):
    """Records with at least one header of that name."""

    connect_class: ClassVar[str] = f"{_PACKAGE}.HasHeaderKey"
    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey("name", validator=non_empty, doc="The header name.")
    )

    def configure(self, config: Mapping[str, str]) -> None:
        self._name: str = self.config_def.parse(config)["name"]

    def test(self, batch: pa.RecordBatch) -> pa.BooleanArray:
        headers = batch.column("headers")
        keys = compute.struct_field(compute.list_flatten(headers), "key")
        rows = compute.list_parent_indices(headers)
        mask = np.zeros(len(headers), bool)
        mask[rows.filter(compute.equal(keys, self._name)).to_numpy()] = True
        return pa.array(mask)


class RecordIsTombstone(Predicate):
    """Records without a value."""

    connect_class: ClassVar[str] = f"{_PACKAGE}.RecordIsTombstone"
    config_def: ClassVar[ConfigDef] = ConfigDef()

    def configure(self, config: Mapping[str, str]) -> None:
        self.config_def.parse(config)

    def test(self, batch: pa.RecordBatch) -> pa.BooleanArray:
        return batch.column("value").is_null()
