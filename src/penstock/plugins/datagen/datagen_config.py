"""The keys of the datagen source."""

from __future__ import annotations

from typing import Final

from penstock.plugins.datagen.quickstarts import QUICKSTARTS
from penstock.sdk.config import ConfigDef, ConfigKey, Importance, Type, Width
from penstock.sdk.config_validators import non_empty, one_of_ignoring_case

KAFKA_TOPIC: Final = "kafka.topic"
MAX_INTERVAL: Final = "max.interval"
ITERATIONS: Final = "iterations"
QUICKSTART: Final = "quickstart"
SCHEMA_STRING: Final = "schema.string"
SCHEMA_FILENAME: Final = "schema.filename"
SCHEMA_KEYFIELD: Final = "schema.keyfield"
RANDOM_SEED: Final = "random.seed"

DATAGEN_CONFIG: Final = ConfigDef(
    ConfigKey(
        KAFKA_TOPIC,
        validator=non_empty,
        importance=Importance.HIGH,
        doc="The topic to write to.",
    ),
    ConfigKey(
        QUICKSTART,
        default=None,
        validator=one_of_ignoring_case(*QUICKSTARTS),
        importance=Importance.HIGH,
        doc="A schema that is built in. Either this or 'schema.string' must be set.",
        recommended=tuple(QUICKSTARTS),
    ),
    ConfigKey(
        SCHEMA_STRING,
        default=None,
        importance=Importance.HIGH,
        doc="An Avro schema as JSON text: a record whose fields say in 'arg.properties' how their "
        "values are made, with 'iteration' (start, step, restart), 'range' (min, max), 'options', "
        "'regex' and 'length'.",
        width=Width.LONG,
    ),
    ConfigKey(
        SCHEMA_KEYFIELD,
        default=None,
        importance=Importance.MEDIUM,
        doc="The field whose value is also the record's key. Quickstarts have one of their own.",
    ),
    ConfigKey(
        MAX_INTERVAL,
        Type.LONG,
        default=500,
        importance=Importance.HIGH,
        doc="The longest time between two records of a task, in milliseconds; the average is half "
        "of it. 0 or less: as fast as possible.",
    ),
    ConfigKey(
        ITERATIONS,
        Type.LONG,
        default=-1,
        importance=Importance.HIGH,
        doc="How many records each task makes, over all its restarts; less than 1 for no limit. "
        "After that the task stays RUNNING and idle (Confluent's fails).",
    ),
    ConfigKey(
        RANDOM_SEED,
        Type.LONG,
        default=None,
        importance=Importance.LOW,
        doc="With the same seed the same records are made. If unset, a seed is chosen when the "
        "first record is made, and kept in the offset.",
    ),
    ConfigKey(
        SCHEMA_FILENAME,
        default=None,
        importance=Importance.LOW,
        doc="Not supported, since tasks run on any host: put the schema into 'schema.string'.",
    ),
)
