"""The keys of the JDBC source: Confluent's, and a few of our own."""

from __future__ import annotations

from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from penstock.plugins.databases.jdbc_url import URL
from penstock.sdk.config import ConfigDef, ConfigKey, Importance, Type, Width, invalid_value
from penstock.sdk.config_validators import at_least, non_empty, one_of_ignoring_case

USER: Final = "connection.user"
PASSWORD: Final = "connection.password"  # noqa: S105 (a key's name)
MODE: Final = "mode"
INCREMENTING: Final = "incrementing.column.name"
TIMESTAMP: Final = "timestamp.column.name"
TIMESTAMP_INITIAL: Final = "timestamp.initial"
DELAY: Final = "timestamp.delay.interval.ms"
GRANULARITY: Final = "timestamp.granularity"
VALIDATE_NON_NULL: Final = "validate.non.null"
QUERY: Final = "query"
QUERY_SUFFIX: Final = "query.suffix"
WHITELIST: Final = "table.whitelist"
BLACKLIST: Final = "table.blacklist"
INCLUDE: Final = "table.include.list"
EXCLUDE: Final = "table.exclude.list"
SCHEMA_PATTERN: Final = "schema.pattern"
TABLE_TYPES: Final = "table.types"
TOPIC_PREFIX: Final = "topic.prefix"
POLL_INTERVAL: Final = "poll.interval.ms"
TABLE_POLL_INTERVAL: Final = "table.poll.interval.ms"
BATCH_ROWS: Final = "batch.max.rows"
NUMERIC_MAPPING: Final = "numeric.mapping"
TIMEZONE: Final = "db.timezone"
KEY_COLUMNS: Final = "key.columns"

MODES: Final = ("bulk", "timestamp", "incrementing", "timestamp+incrementing")
NUMERIC_MAPPINGS: Final = ("none", "precision_only", "best_fit", "best_fit_eager_double")
GRANULARITIES: Final = (
    "connect_logical",
    "micros_long",
    "micros_string",
    "micros_iso_datetime_string",
    "nanos_long",
    "nanos_string",
    "nanos_iso_datetime_string",
)


def _zone(name: str, value: str) -> None:
    try:
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError):
        raise invalid_value(
            name, value, "It is not a time zone, such as UTC or Europe/Berlin"
        ) from (None)


CONNECTION_CONFIG: Final = ConfigDef(
    ConfigKey(
        URL,
        validator=non_empty,
        importance=Importance.HIGH,
        doc="The database: jdbc:postgresql://host:5432/database, with sslmode and other settings "
        "behind a question mark, jdbc:sqlite:/path/of/a/file, or the URL of another kind that an "
        "installed package brings.",
        width=Width.LONG,
    ),
    ConfigKey(USER, default=None, importance=Importance.HIGH, doc="The user to log in as."),
    ConfigKey(
        PASSWORD,
        Type.PASSWORD,
        default=None,
        importance=Importance.HIGH,
        doc="The password. Refer to it with a config provider: ${file:/path:key}.",
    ),
)

ZONE_KEY: Final = ConfigKey(
    TIMEZONE,
    default="UTC",
    validator=_zone,
    importance=Importance.MEDIUM,
    doc="The time zone of timestamps without one.",
)
"""Of sources and sinks, so that a wall clock's time comes back as it was."""

SOURCE_CONFIG: Final = CONNECTION_CONFIG + ConfigDef(
    ConfigKey(
        MODE,
        validator=one_of_ignoring_case(*MODES),
        importance=Importance.HIGH,
        doc="How new rows are found. 'incrementing': by a number that only grows, so updates are "
        "not seen. 'timestamp': by a time that every change sets; rows of the same time are read "
        "together. 'timestamp+incrementing': by both, the safest for updates. 'bulk': the whole "
        "table, again and again. No mode sees deleted rows.",
        recommended=MODES,
    ),
    ConfigKey(
        INCREMENTING,
        default="",
        importance=Importance.MEDIUM,
        doc="The column whose number grows. Empty: the one that the database numbers by itself.",
    ),
    ConfigKey(
        TIMESTAMP,
        Type.LIST,
        default=(),
        importance=Importance.MEDIUM,
        doc="The column with the time of a row's last change; of several, the first that is not "
        "null counts.",
    ),
    ConfigKey(
        TIMESTAMP_INITIAL,
        Type.LONG,
        default=None,
        importance=Importance.LOW,
        doc="Where to begin without an offset, in milliseconds since 1970; -1 for now. Unset: with "
        "the oldest row.",
    ),
    ConfigKey(
        DELAY,
        Type.LONG,
        default=0,
        validator=at_least(0),
        importance=Importance.HIGH,
        doc="Rows younger than this many milliseconds are left for later, by the database's clock: "
        "set it above the longest time that a transaction takes, so that a row that is committed "
        "late is not passed over.",
    ),
    ConfigKey(
        VALIDATE_NON_NULL,
        Type.BOOLEAN,
        default=True,
        importance=Importance.LOW,
        doc="Refuse tables whose incrementing or timestamp column may be null, since rows without "
        "it are never read.",
    ),
    ConfigKey(
        QUERY,
        default="",
        importance=Importance.MEDIUM,
        doc="A SELECT to read instead of tables. Rows are found in its result as the mode says; "
        "'topic.prefix' is the topic.",
        width=Width.LONG,
    ),
    ConfigKey(
        QUERY_SUFFIX,
        default="",
        importance=Importance.LOW,
        doc="SQL that is appended to every query for rows.",
    ),
    ConfigKey(
        WHITELIST,
        Type.LIST,
        default=(),
        importance=Importance.MEDIUM,
        doc="The tables to read, with or without their schema. Unset: all.",
    ),
    ConfigKey(
        BLACKLIST,
        Type.LIST,
        default=(),
        importance=Importance.MEDIUM,
        doc="Tables to leave out.",
    ),
    ConfigKey(
        INCLUDE,
        Type.LIST,
        default=(),
        importance=Importance.MEDIUM,
        doc="The tables to read, as regular expressions for schema.table.",
    ),
    ConfigKey(
        EXCLUDE,
        Type.LIST,
        default=(),
        importance=Importance.MEDIUM,
        doc="Tables to leave out, as regular expressions for schema.table.",
    ),
    ConfigKey(
        SCHEMA_PATTERN,
        default=None,
        importance=Importance.HIGH,
        doc="Only tables of the schemas that this pattern of LIKE fits.",
    ),
    ConfigKey(
        TABLE_TYPES,
        Type.LIST,
        default=("TABLE",),
        importance=Importance.LOW,
        doc="TABLE, VIEW or both.",
    ),
    ConfigKey(
        TOPIC_PREFIX,
        validator=non_empty,
        importance=Importance.HIGH,
        doc="A table's rows go to the topic of this name with the table's name behind it.",
    ),
    ConfigKey(
        KEY_COLUMNS,
        Type.LIST,
        default=(),
        importance=Importance.MEDIUM,
        doc="The columns that are the records' key: one column's value, or a structure of several. "
        "Unset: no key.",
    ),
    ConfigKey(
        POLL_INTERVAL,
        Type.INT,
        default=5000,
        validator=at_least(0),
        importance=Importance.HIGH,
        doc="How often to look for new rows, in milliseconds.",
    ),
    ConfigKey(
        TABLE_POLL_INTERVAL,
        Type.LONG,
        default=60_000,
        validator=at_least(0),
        importance=Importance.LOW,
        doc="How often to look for new tables, in milliseconds.",
    ),
    ConfigKey(
        BATCH_ROWS,
        Type.INT,
        default=100,
        validator=at_least(1),
        importance=Importance.LOW,
        doc="The most rows read at a time. If unset, as many as make a good transaction.",
    ),
    ConfigKey(
        NUMERIC_MAPPING,
        default="none",
        validator=one_of_ignoring_case(*NUMERIC_MAPPINGS),
        importance=Importance.LOW,
        doc="What numeric columns become: 'none' Connect's Decimal, 'precision_only' integers if "
        "they have no decimal places, 'best_fit' also floating point numbers, "
        "'best_fit_eager_double' the same for any precision. Columns without a precision, or with "
        "one above 38, become text.",
    ),
    ConfigKey(
        GRANULARITY,
        default="connect_logical",
        validator=one_of_ignoring_case(*GRANULARITIES),
        importance=Importance.LOW,
        doc="What timestamps become. 'connect_logical' keeps milliseconds only, "
        "'micros_iso_datetime_string' everything.",
    ),
    ZONE_KEY,
)
