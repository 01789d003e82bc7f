"""The shapes of values, and the names of Kafka Connect's logical types."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

_LOGICAL: Final = "org.apache.kafka.connect.data."
DECIMAL: Final = _LOGICAL + "Decimal"
DATE: Final = _LOGICAL + "Date"
TIME: Final = _LOGICAL + "Time"
TIMESTAMP: Final = _LOGICAL + "Timestamp"


class SchemaType(StrEnum):
    """The shape of a value."""

    INT8 = "INT8"
    INT16 = "INT16"
    INT32 = "INT32"
    INT64 = "INT64"
    FLOAT32 = "FLOAT32"
    FLOAT64 = "FLOAT64"
    BOOLEAN = "BOOLEAN"
    STRING = "STRING"
    BYTES = "BYTES"
    ARRAY = "ARRAY"
    MAP = "MAP"
    STRUCT = "STRUCT"
