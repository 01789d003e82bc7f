"""What connector authors import: a name that leaves this list breaks them."""

import subprocess
import sys
from importlib import import_module

from penstock import sdk

PUBLIC = [
    "AbstractSourceTask",
    "ArrowTransformer",
    "Assignment",
    "Assignments",
    "Backoff",
    "BackoffConfig",
    "COMMON_SOURCE_CONFIG",
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
    "REQUIRED",
    "RecordError",
    "RetriableError",
    "S3OffsetManagerEntry",
    "SCHEMALESS",
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


def test_the_public_surface() -> None:
    assert sorted(sdk.__all__) == sorted(PUBLIC)
    assert all(hasattr(sdk, name) for name in PUBLIC)


def test_the_public_surface_for_databases() -> None:
    names = [
        "Column",
        "Conversion",
        "Database",
        "Dialect",
        "GROUP",
        "Relation",
        "Session",
        "TableId",
        "TypeOptions",
        "as_is",
        "as_subquery",
        "quote",
    ]
    found = import_module("penstock.sdk.databases")
    assert all(hasattr(found, name) for name in names)


def test_a_name_means_one_thing() -> None:
    """Names are looked up in one module after the other, the first one counts."""
    for module in sdk._MODULES:
        found = vars(import_module(f"penstock.sdk.{module}"))
        known = {name: getattr(sdk, name) for name in PUBLIC if name in found}
        strange = [name for name, thing in known.items() if found[name] is not thing]
        assert strange == [], module


def test_importing_it_brings_no_engine_along() -> None:
    code = (
        "import sys, penstock.sdk; bad = {m.split('.')[0] for m in sys.modules}"
        " & {'pyspark', 'confluent_kafka', 'kafka', 'pandas'}; assert not bad, bad"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
