"""Kafka Connect's TimestampRouter."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

import pyarrow as pa
from pyarrow import compute

from penstock.columnar.json_text import Misfit
from penstock.columnar.transforms.date_patterns import LAST, formatted, tokens
from penstock.columnar.transforms.sided import PACKAGE
from penstock.sdk.config import ConfigDef, ConfigKey, Importance, invalid_value
from penstock.sdk.errors import RecordError
from penstock.sdk.transforms import Transform


def _date_pattern(name: str, value: Any) -> None:
    try:
        tokens(value or "")
    except ValueError as error:
        raise invalid_value(name, value, str(error)) from None


class TimestampRouter(Transform):
    """Topics by the time of their records."""

    connect_class: ClassVar[str] = f"{PACKAGE}.TimestampRouter"
    config_def: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(
            "topic.format",
            default="${topic}-${timestamp}",
            importance=Importance.HIGH,
            doc="Format string which can contain ${topic} and ${timestamp} as placeholders for the "
            "topic and timestamp, respectively.",
        ),
        ConfigKey(
            "timestamp.format",
            default="yyyyMMdd",
            validator=_date_pattern,
            importance=Importance.HIGH,
            doc="Format string for the timestamp that is compatible with "
            "java.text.SimpleDateFormat.",
        ),
    )

    def configure(self, config: Mapping[str, str]) -> None:
        parsed = self.config_def.parse(config)
        self._pieces = re.split(r"(\$\{topic\}|\$\{timestamp\})", parsed["topic.format"])
        self._pattern = tokens(parsed["timestamp.format"])

    def apply(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        if not batch.num_rows:
            return batch
        timestamps = batch.column("timestamp")
        if timestamps.null_count:
            row = timestamps.is_null().index(True).as_py()
            raise RecordError("Timestamp missing on record", row=row)
        at = batch.schema.get_field_index("topic")
        try:
            return batch.set_column(at, batch.schema.field(at), self._routed(batch, timestamps))
        except Misfit as misfit:
            beyond = compute.greater(compute.abs(timestamps), LAST)
            raise RecordError(str(misfit), row=beyond.index(True).as_py()) from None

    def _routed(self, batch: pa.RecordBatch, timestamps: pa.Array) -> pa.Array:
        topics = batch.column("topic")
        known = {
            "${topic}": topics.dictionary.take(topics.indices),
            "${timestamp}": formatted(timestamps, self._pattern),
        }
        pieces = [known.get(piece, piece) for piece in self._pieces]
        joined = compute.binary_join_element_wise(*pieces, "", "")
        if not isinstance(joined, pa.Array):
            joined = pa.repeat(joined, batch.num_rows)
        return joined.dictionary_encode()
