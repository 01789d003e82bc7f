"""What connector authors import: a name that leaves this list breaks them."""

import subprocess
import sys

from penstock import sdk

PUBLIC = [
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
    "REQUIRED",
    "RecordError",
    "RetriableError",
    "SCHEMALESS",
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


def test_the_public_surface() -> None:
    assert sorted(sdk.__all__) == sorted(PUBLIC)
    assert all(hasattr(sdk, name) for name in PUBLIC)


def test_importing_it_brings_no_engine_along() -> None:
    code = (
        "import sys, penstock.sdk; bad = {m.split('.')[0] for m in sys.modules}"
        " & {'pyspark', 'confluent_kafka', 'kafka', 'pandas'}; assert not bad, bad"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
