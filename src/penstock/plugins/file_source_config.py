"""The keys of the file source."""

from __future__ import annotations

from typing import Final

from penstock.sdk.config import ConfigDef, ConfigKey, Importance, Type
from penstock.sdk.config_validators import at_least, non_empty

FILE: Final = "file"
TOPIC: Final = "topic"
BATCH_SIZE: Final = "batch.size"

FILE_SOURCE_CONFIG: Final = ConfigDef(
    ConfigKey(
        FILE,
        default=None,
        importance=Importance.HIGH,
        doc="Path of the file to read, as the worker's hosts see it. It need not exist yet. Every "
        "line becomes a record once its newline is there. Only \\n ends a line and all other "
        "bytes are kept, a \\r before it too, so that a file copied to a file sink is the same "
        "byte for byte (Kafka Connect would drop the \\r). Bytes that are not UTF-8 become "
        "U+FFFD. Rotation by renaming and truncation are followed.",
    ),
    ConfigKey(
        TOPIC,
        validator=non_empty,
        importance=Importance.HIGH,
        doc="The topic to write the lines to.",
    ),
    ConfigKey(
        BATCH_SIZE,
        Type.INT,
        default=2000,
        validator=at_least(1),
        importance=Importance.LOW,
        doc="The most lines read at a time. Left alone, the connector chooses larger batches than "
        "the default.",
    ),
)
