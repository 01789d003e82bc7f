"""The keys of the Spark source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from penstock.plugins.objects.source_search import Rhythm
from penstock.plugins.spark.row_records import RecordColumns
from penstock.sdk.config import ConfigDef, ConfigKey, Importance, Type
from penstock.sdk.config_validators import at_least, non_empty, one_of, one_of_ignoring_case

FORMAT: Final = "format"
PATH: Final = "path"
TOPIC: Final = "topic"
OPTIONS: Final = "format.options."
SCHEMA: Final = "schema"
SELECT: Final = "select"
TOPIC_COLUMN: Final = "topic.column"
KEY_COLUMN: Final = "key.column"
VALUE_COLUMN: Final = "value.column"
PARTITION_COLUMN: Final = "partition.column"
TIMESTAMP_COLUMN: Final = "timestamp.column"
CHANGED: Final = "changed.files"
LIST_INTERVAL: Final = "list.interval.ms"
RESCAN_INTERVAL: Final = "rescan.interval.ms"
LOOK_BACK: Final = "rescan.look.back.ms"
MODE: Final = "mode"
INCREMENTING: Final = "incrementing.column.name"
TIMESTAMP: Final = "timestamp.column.name"
DELAY: Final = "timestamp.delay.interval.ms"

FILES: Final = ("text", "json", "csv", "parquet", "orc", "avro")
JDBC: Final = "jdbc"
DELTA: Final = "delta"
MODES: Final = ("incrementing", "timestamp", "timestamp+incrementing", "bulk")
TABLE_CHANGES: Final = "table.changes"
FAIL: Final = "fail"
SKIP: Final = "skip"
REREAD: Final = "reread"
IGNORE: Final = "ignore"

SPARK_SOURCE_CONFIG: Final = ConfigDef(
    ConfigKey(
        FORMAT,
        importance=Importance.HIGH,
        validator=one_of(*FILES, JDBC, DELTA),
        doc="Spark's name of the format: text, json, csv, parquet, orc, or avro where its jar is "
        "installed; delta, with its jars; or jdbc, with the jar of a driver. Options of the format "
        "are keys that begin with format.options., such as format.options.url, "
        "format.options.dbtable or format.options.query of jdbc.",
        recommended=(*FILES, JDBC, DELTA),
    ),
    ConfigKey(
        PATH,
        default="",
        importance=Importance.HIGH,
        doc="The files to read: a folder with all its folders, or a pattern with *, ?, [ ] and "
        "{ }, as a URL of a file system that Spark has, or as a path that all executors share. "
        "Names that begin with _ or . are left out, as Spark leaves them out. For delta, the "
        "folder of the table.",
    ),
    ConfigKey(
        TOPIC,
        importance=Importance.HIGH,
        validator=non_empty,
        doc="The topic to write to; with topic.column, for rows without a topic.",
    ),
    ConfigKey(
        OPTIONS + "password",
        Type.PASSWORD,
        default=None,
        doc="The password, for a format that has such an option.",
    ),
    ConfigKey(
        SCHEMA,
        default="",
        doc="The columns of the files as Spark writes them, such as id BIGINT, name STRING. "
        "Without it Spark looks into the files of each turn, which for json it reads twice. Files "
        "that then have other columns make records of another schema.",
    ),
    ConfigKey(
        SELECT,
        default="*",
        doc="What becomes of a row: expressions of Spark SQL, with a semicolon between two of "
        "them, over its columns and _metadata, such as *; _metadata.file_path AS file. Of one row "
        "one record: explode and aggregates are refused.",
    ),
    ConfigKey(
        VALUE_COLUMN,
        default="",
        doc="The column that is the value. Without it the value has all columns; text has one "
        "column, which is the value.",
    ),
    ConfigKey(KEY_COLUMN, default="", doc="The column that is the key as well. Empty: no keys."),
    ConfigKey(
        TOPIC_COLUMN, default="", doc="The column that names the topic of each record, if one does."
    ),
    ConfigKey(
        PARTITION_COLUMN,
        default="",
        doc="The column with the number of the topic's partition. Empty: the producer decides.",
    ),
    ConfigKey(
        TIMESTAMP_COLUMN,
        default="",
        doc="The column with the record's timestamp: a timestamp, a date, or milliseconds. Empty: "
        "the time at which it is produced.",
    ),
    ConfigKey(
        CHANGED,
        default=REREAD,
        validator=one_of_ignoring_case(REREAD, IGNORE),
        doc="What to do about a file that has changed since it was read, or half read. reread: "
        "read it again from its beginning. ignore: go on in it after as many rows as were read, "
        "and leave a finished one alone; nor may a file be read that appears after others with "
        "greater names were read.",
    ),
    ConfigKey(
        TABLE_CHANGES,
        default=FAIL,
        validator=one_of_ignoring_case(FAIL, REREAD, SKIP),
        doc="For delta: what to do about a version that deletes or rewrites rows. fail: the task "
        "fails, and names it. reread: what is rewritten comes again, with rows that did not "
        "change; deletions show nowhere. skip: nothing of such a version is read.",
    ),
    ConfigKey(
        LIST_INTERVAL,
        Type.LONG,
        default=5000,
        validator=at_least(1),
        doc="How often files are listed, or the database is asked, while there is nothing to do; "
        "and how long after a pass in mode bulk the next one begins.",
    ),
    ConfigKey(
        RESCAN_INTERVAL,
        Type.LONG,
        default=300_000,
        validator=at_least(0),
        doc="How long after files with lesser names than those that were read were listed they are "
        "listed again, to find what has changed or appeared late. 0: only when the connector "
        "starts.",
    ),
    ConfigKey(
        LOOK_BACK,
        Type.LONG,
        default=600_000,
        validator=at_least(0),
        doc="How long writing a file may take, and how far the clocks of the file system and the "
        "worker may differ. What was finished and is younger is remembered singly; 131072 files at "
        "the most, then new ones wait.",
    ),
    ConfigKey(
        MODE,
        default="incrementing",
        validator=one_of(*MODES),
        doc="How new rows of jdbc are found: by a number that only grows, by a time that every "
        "change sets, by both, or not: then all rows are read again and again.",
        recommended=MODES,
    ),
    ConfigKey(INCREMENTING, default="", doc="For jdbc: the column whose number grows."),
    ConfigKey(
        TIMESTAMP, default="", doc="For jdbc: the column with the time of a row's last change."
    ),
    ConfigKey(
        DELAY,
        Type.LONG,
        default=0,
        validator=at_least(0),
        doc="For jdbc: rows younger than this, by the worker's clock, are left for later. Set it "
        "above the longest time that a transaction takes.",
    ),
)

REFUSED: Final = {
    "path": PATH,
    "paths": PATH,
    "pathglobfilter": PATH,
    "recursivefilelookup": PATH,
    "modifiedafter": "",
    "modifiedbefore": "",
    "mode": "errors.tolerance",
    "columnnameofcorruptrecord": "errors.tolerance",
    "ignorecorruptfiles": "errors.tolerance",
    "ignoremissingfiles": "",
    "maxfilespertrigger": "",
}
"""Options that would skip files or rows without a word, and the key that is there instead."""


REFUSED_ROWS: Final = {
    "path": "",
    "partitioncolumn": "",
    "lowerbound": "",
    "upperbound": "",
    "numpartitions": "",
    "preparequery": "",
    "sessioninitstatement": "",
}
"""Options of jdbc that would cut a turn by other rules than ours, or write."""


def format_options(config: Mapping[str, str]) -> dict[str, str]:
    """The options of the format."""
    return {
        key.removeprefix(OPTIONS): value for key, value in config.items() if key.startswith(OPTIONS)
    }


def wrong_settings(config: Mapping[str, str]) -> list[tuple[str, str]]:
    """What does not go together: key and what to do."""
    values, options = SPARK_SOURCE_CONFIG.parse(config), format_options(config)
    rows = values[FORMAT] == JDBC
    if values[FORMAT] == DELTA:
        return list(_wrong_for_delta(values, options))
    found = []
    for option in options:
        refused = REFUSED_ROWS if rows else REFUSED
        if (instead := refused.get(option.lower())) is not None:
            advice = f"use {instead}" if instead else "leave it out"
            found.append((OPTIONS + option, f"this source decides what is read: {advice}"))
    return [*found, *(_wrong_mode(values, options) if rows else ())]


def _wrong_for_delta(
    values: Mapping[str, Any], options: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    for option in options:
        yield OPTIONS + option, "a table of Delta's is read without options: leave it out"
    if values[SCHEMA]:
        yield SCHEMA, "a table of Delta's has its own columns: leave it out"
    if any(special in values[PATH] for special in "*?[{"):
        yield PATH, "one table is read, and no pattern: name its folder"


def _wrong_mode(values: Mapping[str, Any], options: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    if not options.get("url"):
        yield OPTIONS + "url", "say where the database is: jdbc:postgresql://host/database, say"
    if bool(options.get("dbtable")) == bool(options.get("query")):
        yield OPTIONS + "dbtable", f"set either it or {OPTIONS}query"
    wanted = values[MODE].split("+")
    for key, mode in ((INCREMENTING, "incrementing"), (TIMESTAMP, "timestamp")):
        if (mode in wanted) != bool(values[key]):
            yield key, f"mode {values[MODE]} {'needs it' if mode in wanted else 'does not use it'}"


def record_columns(values: Mapping[str, Any]) -> RecordColumns:
    """Which column is what."""
    value = values[VALUE_COLUMN]
    if not value and values[FORMAT] == "text" and values[SELECT].strip() == "*":
        value = "value"
    return RecordColumns(
        topic=values[TOPIC],
        topic_column=values[TOPIC_COLUMN],
        key=values[KEY_COLUMN],
        value=value,
        partition=values[PARTITION_COLUMN],
        timestamp=values[TIMESTAMP_COLUMN],
    )


def rhythm_of(values: Mapping[str, Any]) -> Rhythm:
    """How often to list. Every turn is about an interval after the last, so that it is due."""
    whole = 0 if ignores_changes(values) else values[RESCAN_INTERVAL]
    return Rhythm(values[LIST_INTERVAL] / 2000, whole / 1000, values[LOOK_BACK] / 1000)


def ignores_changes(values: Mapping[str, Any]) -> bool:
    """Whether nothing below a mark is read."""
    return str(values[CHANGED]).lower() == IGNORE
