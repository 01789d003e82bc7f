"""The keys of the JDBC sink: Confluent's, and one of our own."""

from __future__ import annotations

from typing import Final

from penstock.plugins.databases.source_config import CONNECTION_CONFIG, ZONE_KEY
from penstock.sdk.config import ConfigDef, ConfigKey, Importance, Type
from penstock.sdk.config_validators import non_empty, one_of_ignoring_case

INSERT_MODE: Final = "insert.mode"
PK_MODE: Final = "pk.mode"
PK_FIELDS: Final = "pk.fields"
FIELDS: Final = "fields.whitelist"
TABLE_FORMAT: Final = "table.name.format"
DELETE: Final = "delete.enabled"
AUTO_CREATE: Final = "auto.create"
AUTO_EVOLVE: Final = "auto.evolve"
OFFSETS_TABLE: Final = "offsets.table"

INSERT_MODES: Final = ("insert", "upsert", "update")
PK_MODES: Final = ("none", "kafka", "record_key", "record_value")

SINK_CONFIG: Final = CONNECTION_CONFIG + ConfigDef(
    ConfigKey(
        INSERT_MODE,
        default="insert",
        validator=one_of_ignoring_case(*INSERT_MODES),
        importance=Importance.HIGH,
        doc="'insert' adds rows; one whose key is there already is an error. 'upsert' replaces "
        "the row of the same key. 'update' changes rows that are there, and adds none.",
        recommended=INSERT_MODES,
    ),
    ConfigKey(
        PK_MODE,
        default="none",
        validator=one_of_ignoring_case(*PK_MODES),
        importance=Importance.HIGH,
        doc="Where the primary key comes from: 'record_key', 'record_value', 'kafka' (topic, "
        "partition and offset), or 'none'.",
        recommended=PK_MODES,
    ),
    ConfigKey(
        PK_FIELDS,
        Type.LIST,
        default=(),
        importance=Importance.MEDIUM,
        doc="The columns of the primary key. With 'record_key': the name for a plain key, or "
        "fields of a structure. With 'record_value': fields of the value. Empty: all of them; with "
        "'kafka' __connect_topic, __connect_partition and __connect_offset.",
    ),
    ConfigKey(
        FIELDS,
        Type.LIST,
        default=(),
        importance=Importance.MEDIUM,
        doc="Fields of the value to write, besides the primary key. Empty: all.",
    ),
    ConfigKey(
        TABLE_FORMAT,
        default="${topic}",
        validator=non_empty,
        importance=Importance.MEDIUM,
        doc="The table to write to, or schema.table; ${topic} stands for the topic.",
    ),
    ConfigKey(
        DELETE,
        Type.BOOLEAN,
        default=False,
        importance=Importance.MEDIUM,
        doc="Whether a record without a value deletes the row of its key. Needs 'pk.mode' "
        "record_key.",
    ),
    ConfigKey(
        AUTO_CREATE,
        Type.BOOLEAN,
        default=False,
        importance=Importance.MEDIUM,
        doc="Whether to create a table that is missing, from the records' schema.",
    ),
    ConfigKey(
        AUTO_EVOLVE,
        Type.BOOLEAN,
        default=False,
        importance=Importance.MEDIUM,
        doc="Whether to add columns that are missing. Columns are never changed or dropped.",
    ),
    ZONE_KEY,
    ConfigKey(
        OFFSETS_TABLE,
        default="penstock_offsets",
        validator=non_empty,
        importance=Importance.LOW,
        doc="The table, or schema.table, in which the sink keeps how far it has written, in the "
        "same transaction as the rows: that makes it exactly-once. It is created if missing. "
        "Connectors of one name in two clusters need different ones.",
    ),
)
