"""The keys of the file source."""

from __future__ import annotations

from typing import Final

from penstock.sdk.config import ConfigDef, ConfigKey, Importance, Type, Width
from penstock.sdk.config_validators import at_least, non_empty

FILE: Final = "file"
FILE_GLOB: Final = "file.glob"
TOPIC: Final = "topic"
BATCH_SIZE: Final = "batch.size"

FILE_SOURCE_CONFIG: Final = ConfigDef(
    ConfigKey(
        FILE,
        default=None,
        importance=Importance.HIGH,
        doc="Path of the file to read, as the worker's hosts see it. It may not exist yet. Every "
        "line becomes a record once its newline is there. Only \\n ends a line and all other "
        "bytes are kept, a \\r before it too, so that a file copied to a file sink is the same "
        "byte for byte (Kafka Connect would drop the \\r). Bytes that are not UTF-8 become "
        "U+FFFD. Rotation by renaming within the folder and truncation are followed, also while "
        "the connector is stopped: with each position the task records which file it is in, by its "
        "inode and the last bytes before the position.",
    ),
    ConfigKey(
        FILE_GLOB,
        default=None,
        importance=Importance.HIGH,
        doc="Instead of 'file': a pattern. Every file whose path matches is read, each with its "
        "own offset, by up to 'tasks.max' tasks at once (Kafka Connect has no such key). *, "
        "? and [...] match within one name, ** any number of folders; write [*] for a star itself. "
        "As in a shell, names that begin with a dot match only if the pattern has the dot. Files "
        "that appear later are read from their start within about a second; deleted ones are "
        "forgotten, but keep their offsets. What is not a regular file, or has a name that is not "
        "UTF-8, is skipped, and so is a folder that may not be listed. A file that may not be "
        "read makes one task fail and name it; with two tasks or more the others continue. "
        "The pattern should not match the names that files are rotated to: write *.log and not "
        "*.log*, otherwise app.log.1 is another file and its lines are read twice. The last lines "
        "of a file that is then renamed or deleted are guaranteed to be read only while each task "
        "has at most 64 files that are being written.",
        width=Width.LONG,
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
        doc="The most lines read at a time. If unset, the connector chooses larger batches than "
        "the default.",
    ),
)
