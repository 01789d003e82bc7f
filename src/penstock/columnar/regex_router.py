"""Kafka Connect's RegexRouter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import pyarrow as pa

from penstock.columnar.java_regex import compiled, java_regex, replaced_first
from penstock.sdk.config import ConfigDef, ConfigKey, Importance, invalid_value
from penstock.sdk.transforms import Transform


class RegexRouter(Transform):
    """Renames topics that match as a whole. Works on each topic once, whatever the rows."""

    connect_class: ClassVar[str] = "org.apache.kafka.connect.transforms.RegexRouter"
    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(
            "regex",
            validator=java_regex,
            importance=Importance.HIGH,
            doc="Regular expression to use for matching.",
        ),
        ConfigKey("replacement", importance=Importance.HIGH, doc="Replacement string."),
    )

    def configure(self, config: Mapping[str, str]) -> None:
        parsed = self.config_def.parse(config)
        self._pattern = compiled(parsed["regex"])
        self._replacement: str = parsed["replacement"]

    def apply(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        column = batch.schema.get_field_index("topic")
        topics = batch.column(column)
        routed = [self._routed(topic) for topic in topics.dictionary.to_pylist()]
        if routed == topics.dictionary.to_pylist():
            return batch
        # Two topics may have become one, and a dictionary names each only once.
        names = pa.array(routed, pa.string()).dictionary_encode()
        renamed = pa.DictionaryArray.from_arrays(
            names.indices.take(topics.indices), names.dictionary
        )
        return batch.set_column(column, batch.schema.field(column), renamed)

    def _routed(self, topic: str) -> str:
        if not self._pattern.fullmatch(topic):
            return topic
        try:
            return replaced_first(self._pattern, self._replacement, topic)
        except (ValueError, IndexError) as error:
            raise invalid_value("replacement", self._replacement, str(error)) from None
