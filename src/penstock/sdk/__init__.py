"""What a connector author imports.

Everything here is public and stays: names are added, never changed. Modules below this one may
hold more than is listed here; that is not public.

A name is loaded when it is first used: commands that only need the errors do without PyArrow.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.sdk.batches import SourceBatch, constant_topic, record_batch
    from penstock.sdk.config import (
        REQUIRED,
        ConfigDef,
        ConfigKey,
        ConfigValue,
        Importance,
        Type,
        Width,
    )
    from penstock.sdk.config_validators import (
        at_least,
        between,
        no_control_characters,
        non_empty,
        one_of,
        one_of_ignoring_case,
        regex,
    )
    from penstock.sdk.connectors import Connector, SinkConnector, SourceConnector, TopicPartition
    from penstock.sdk.errors import (
        ConfigError,
        FatalError,
        PenstockError,
        RecordError,
        RetriableError,
        UserError,
    )
    from penstock.sdk.offsets import OffsetReader, SourceOffset, SourcePartition
    from penstock.sdk.packing import pack
    from penstock.sdk.records import SourceRecord
    from penstock.sdk.schema import (
        SCHEMALESS,
        Schema,
        SchemaType,
        from_field,
        is_schemaless,
        to_field,
    )
    from penstock.sdk.tasks import Assignment, SinkTask, SourceTask

__all__ = [
    "REQUIRED",
    "SCHEMALESS",
    "Assignment",
    "ConfigDef",
    "ConfigError",
    "ConfigKey",
    "ConfigValue",
    "Connector",
    "FatalError",
    "Importance",
    "OffsetReader",
    "PenstockError",
    "RecordError",
    "RetriableError",
    "Schema",
    "SchemaType",
    "SinkConnector",
    "SinkTask",
    "SourceBatch",
    "SourceConnector",
    "SourceOffset",
    "SourcePartition",
    "SourceRecord",
    "SourceTask",
    "TopicPartition",
    "Type",
    "UserError",
    "Width",
    "at_least",
    "between",
    "constant_topic",
    "from_field",
    "is_schemaless",
    "no_control_characters",
    "non_empty",
    "one_of",
    "one_of_ignoring_case",
    "pack",
    "record_batch",
    "regex",
    "to_field",
]

# Those without PyArrow first.
_MODULES = (
    "errors",
    "config",
    "config_validators",
    "offsets",
    "batches",
    "schema",
    "records",
    "packing",
    "tasks",
    "connectors",
)


def __getattr__(name: str) -> Any:
    if name in __all__:
        for module in _MODULES:
            found = vars(import_module(f"{__name__}.{module}"))
            if name in found:
                globals()[name] = found[name]
                return found[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
