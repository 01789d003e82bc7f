"""What authors of connectors, converters, transforms and predicates import.

Everything here is public and stays: names are added, never changed. Modules below this one may
hold more than is listed here; that is not public, except in ``penstock.sdk.testing`` and
``penstock.sdk.databases``.

A name is loaded when it is first used: commands that only need the errors do without PyArrow.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.sdk.batches import SourceBatch, constant_topic, offsets_only, record_batch
    from penstock.sdk.config import (
        REQUIRED,
        ConfigDef,
        ConfigKey,
        ConfigValue,
        Importance,
        Type,
        Width,
    )
    from penstock.sdk.config_providers import ConfigProvider
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
    from penstock.sdk.converters import Converter, Decoded
    from penstock.sdk.distribution.name_template import NameTemplate
    from penstock.sdk.distribution.registry import distribution_class, distribution_names
    from penstock.sdk.distribution.strategy import ObjectDistributionStrategy, Share
    from penstock.sdk.errors import (
        ConfigError,
        FatalError,
        ObjectError,
        OffsetError,
        PenstockError,
        RecordError,
        RetriableError,
        TakenOver,
        UserError,
    )
    from penstock.sdk.frame_sources import (
        FrameReading,
        FrameShare,
        FrameSourceConnector,
        SourceTurn,
        SourceTurnEnd,
    )
    from penstock.sdk.frames import (
        FormatEnd,
        FrameConnector,
        FrameTurn,
        KafkaEnd,
        TopicRange,
        TurnEnd,
    )
    from penstock.sdk.function_transforms import (
        TransformRecord,
        batch_transform,
        record_transform,
    )
    from penstock.sdk.guarantees import Guarantee
    from penstock.sdk.header_values import header_text, read_header
    from penstock.sdk.objects import ObjectContext, StoredObject
    from penstock.sdk.offsets import ChangedOffset, OffsetReader, SourceOffset, SourcePartition
    from penstock.sdk.packing import pack
    from penstock.sdk.predicates import Predicate
    from penstock.sdk.records import SourceRecord
    from penstock.sdk.schema import (
        SCHEMALESS,
        Schema,
        SchemaType,
        from_field,
        is_schemaless,
        to_field,
    )
    from penstock.sdk.sources.abstract_source_task import AbstractSourceTask
    from penstock.sdk.sources.backoff import Backoff, BackoffConfig
    from penstock.sdk.sources.iterators import SourceIterator, restarting
    from penstock.sdk.sources.offset_entries import (
        OffsetManagerEntry,
        OffsetManagerKey,
        SchemaAndValue,
    )
    from penstock.sdk.sources.offset_manager import OffsetManager
    from penstock.sdk.sources.s3_offset_entry import S3OffsetManagerEntry
    from penstock.sdk.sources.source_config import COMMON_SOURCE_CONFIG, SourceCommonConfig
    from penstock.sdk.tasks import (
        Assignment,
        Assignments,
        CommittedOffset,
        Flushed,
        SinkTask,
        SourceTask,
    )
    from penstock.sdk.transformers.registry import transformer_class, transformer_names
    from penstock.sdk.transformers.streams import decompressed, stream_of
    from penstock.sdk.transformers.transformer import (
        ArrowTransformer,
        TransformedColumns,
        TransformedRecord,
        Transformer,
    )
    from penstock.sdk.transforms import Transform

__all__ = [
    "COMMON_SOURCE_CONFIG",
    "REQUIRED",
    "SCHEMALESS",
    "AbstractSourceTask",
    "ArrowTransformer",
    "Assignment",
    "Assignments",
    "Backoff",
    "BackoffConfig",
    "ChangedOffset",
    "CommittedOffset",
    "ConfigDef",
    "ConfigError",
    "ConfigKey",
    "ConfigProvider",
    "ConfigValue",
    "Connector",
    "Converter",
    "Decoded",
    "FatalError",
    "Flushed",
    "FormatEnd",
    "FrameConnector",
    "FrameReading",
    "FrameShare",
    "FrameSourceConnector",
    "FrameTurn",
    "Guarantee",
    "Importance",
    "KafkaEnd",
    "NameTemplate",
    "ObjectContext",
    "ObjectDistributionStrategy",
    "ObjectError",
    "OffsetError",
    "OffsetManager",
    "OffsetManagerEntry",
    "OffsetManagerKey",
    "OffsetReader",
    "PenstockError",
    "Predicate",
    "RecordError",
    "RetriableError",
    "S3OffsetManagerEntry",
    "Schema",
    "SchemaAndValue",
    "SchemaType",
    "Share",
    "SinkConnector",
    "SinkTask",
    "SourceBatch",
    "SourceCommonConfig",
    "SourceConnector",
    "SourceIterator",
    "SourceOffset",
    "SourcePartition",
    "SourceRecord",
    "SourceTask",
    "SourceTurn",
    "SourceTurnEnd",
    "StoredObject",
    "TakenOver",
    "TopicPartition",
    "TopicRange",
    "Transform",
    "TransformRecord",
    "TransformedColumns",
    "TransformedRecord",
    "Transformer",
    "TurnEnd",
    "Type",
    "UserError",
    "Width",
    "at_least",
    "batch_transform",
    "between",
    "constant_topic",
    "decompressed",
    "distribution_class",
    "distribution_names",
    "from_field",
    "header_text",
    "is_schemaless",
    "no_control_characters",
    "non_empty",
    "offsets_only",
    "one_of",
    "one_of_ignoring_case",
    "pack",
    "read_header",
    "record_batch",
    "record_transform",
    "regex",
    "restarting",
    "stream_of",
    "to_field",
    "transformer_class",
    "transformer_names",
]

# Those without PyArrow first.
_MODULES = (
    "errors",
    "config",
    "config_providers",
    "config_validators",
    "offsets",
    "batches",
    "schema",
    "records",
    "packing",
    "tasks",
    "guarantees",
    "connectors",
    "frames",
    "frame_sources",
    "converters",
    "transforms",
    "function_transforms",
    "predicates",
    "sources.backoff",
    "sources.source_config",
    "sources.iterators",
    "sources.offset_entries",
    "sources.s3_offset_entry",
    "sources.offset_manager",
    "sources.abstract_source_task",
    "objects",
    "distribution.strategy",
    "distribution.registry",
    "distribution.name_template",
    "transformers.registry",
    "transformers.streams",
    "transformers.transformer",
    "header_values",
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
