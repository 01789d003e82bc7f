"""The keys of the file sink."""

from __future__ import annotations

from typing import Final

from penstock.sdk.config import ConfigDef, ConfigKey, Importance

FILE: Final = "file"

FILE_SINK_CONFIG: Final = ConfigDef(
    ConfigKey(
        FILE,
        default=None,
        importance=Importance.HIGH,
        doc="Path of the file to append to, as the worker's hosts see it. It is created if "
        "missing, but its folder is not. Every value is written as a line: text and bytes as they "
        "are, a null as the word null, structures as JSON. With one task and one input partition "
        "every record is in the file exactly once, and lines that other programs append are "
        "removed; with several tasks a record may be written again after a failure.",
    ),
)
