"""Statements about streams, tables and types. Topics hold the data; these only name it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from confluent_kafka import KafkaException

from penstock.kafka import topics
from penstock.sql.catalog.inference import keyed, value_columns, without_key
from penstock.sql.catalog.sampling import sample_of
from penstock.sql.catalog.source import AVRO, FORMATS, OBJECTS, PSEUDO, Source
from penstock.sql.errors import AlreadyExists, NotSupportedYet, StatementError, nearest
from penstock.sql.planning.spark_types import resolved, resolved_type
from penstock.sql.running.home import Home
from penstock.sql.running.query_changes import still_reading
from penstock.sql.running.registered import inferred_of_avro
from penstock.sql.running.results import Lines, Result, framed, message, warning
from penstock.sql.statements import connectors as co
from penstock.sql.statements import sources as so
from penstock.sql.statements.kinds import SourceKind
from penstock.sql.statements.types import ColumnDef

SCHEMAS = "JSON_SCHEMAS_ENABLE"
KNOWN = (
    "KAFKA_TOPIC",
    "FORMAT",
    "KEY_FORMAT",
    "VALUE_FORMAT",
    "PARTITIONS",
    "REPLICAS",
    "RETENTION_MS",
    "TIMESTAMP",
    "VALUE_DELIMITER",
    "TOPIC",
    SCHEMAS,
)
LATER = {"TIMESTAMP_FORMAT", "WRAP_SINGLE_VALUE", "KEY_DELIMITER", "VALUE_SCHEMA_ID"}
DELIMITERS = {"SPACE": " ", "TAB": "\t"}
Properties = Mapping[str, str]


def create(home: Home, statement: so.CreateSource, masked: str) -> Result:
    """Declare a stream or table over a topic."""
    if (taken := already(home, statement)) is not None:
        return taken
    given = checked_properties(statement.properties)
    topic = _topic(given)
    home.refuse_closed(topic)
    source = _declared(home, statement, given, topic)
    ensure_topic(home, topic, given)
    number = home.catalog.put(replace(source, statement=masked))
    done = framed(
        f"{statement.kind} CREATED",
        commandId=command_id(statement.kind, source.name, "create"),
        commandSequenceNumber=number,
    )
    warnings = still_reading(home, source.name)
    if statement.columns:
        return Result(done.entity, done.parts, warnings)
    told = Lines(f"{source.name} over topic {topic}: {_columns_told(source)}")
    return Result(done.entity, (*done.parts, told), warnings)


def already(home: Home, statement: so.CreateSource) -> Result | None:
    """What to answer if there is one of that name; AlreadyExists if that is a mistake."""
    taken = home.catalog.find(statement.name)
    if taken is None or statement.or_replace:
        return None
    if statement.if_not_exists:
        return warning(f"{taken.kind.capitalize()} {taken.name} already exists")
    raise AlreadyExists(f"A {taken.kind.lower()} with the name {taken.name} already exists.")


def command_id(kind: str, name: str, verb: str) -> str:
    """ksqlDB's name for a change: ``stream/`S`/create``."""
    return f"{kind.lower()}/`{name}`/{verb}"


def _columns_told(source: Source) -> str:
    roles = {c.name: f" {c.role}" if c.role else "" for c in source.columns}
    return ", ".join(f"{c.name} {c.type}{roles[c.name]}" for c in source.columns)


def checked_properties(properties: co.Properties) -> dict[str, str]:
    """What WITH says, under upper-case names; SqlError for one that there is not."""
    given = {key.upper(): value or "" for key, value in properties}
    for key in given:
        if key in LATER:
            raise NotSupportedYet(f"{key} in WITH")
        if key not in KNOWN:
            raise StatementError(f"WITH has no property {key}.{nearest(key, KNOWN)}")
    return given


def _topic(given: Properties) -> str:
    topic = given.get("KAFKA_TOPIC") or given.get("TOPIC")
    if not topic:
        raise StatementError("WITH needs KAFKA_TOPIC, the topic that it is over.")
    return topic


def _declared(home: Home, statement: so.CreateSource, given: Properties, topic: str) -> Source:
    value_format = chosen_format(given, "VALUE_FORMAT", "JSON")
    key_format = chosen_format(given, "KEY_FORMAT", "KAFKA")
    refuse_without_registry(home, key_format, value_format)
    columns = resolved(statement.columns, home.catalog.types())
    if not columns:
        columns, key_format = _inferred(home, statement, given, topic)
    _check(statement, columns)
    delimiter = given.get("VALUE_DELIMITER", ",")
    return Source(
        statement.kind,
        statement.name,
        topic,
        columns,
        key_format,
        value_format,
        DELIMITERS.get(delimiter.upper(), delimiter),
        time_column(given, columns),
        statement.read_only,
        schemas_enabled(given, value_format),
    )


def chosen_format(given: Properties, key: str, default: str) -> str:
    """KEY_FORMAT or VALUE_FORMAT; SqlError for one that there is not."""
    if "FORMAT" in given and key in given:
        raise StatementError(f"FORMAT is for key and value: leave {key} out, or FORMAT.")
    chosen = (given.get(key) or given.get("FORMAT") or default).upper()
    if chosen in ("PROTOBUF", "JSON_SR", "NONE", "PROTOBUF_NOSR"):
        raise NotSupportedYet(f"format {chosen}; there are {', '.join(FORMATS)}")
    if chosen not in FORMATS:
        raise StatementError(f"There is no format {chosen}.{nearest(chosen, FORMATS)}")
    return chosen


def refuse_without_registry(home: Home, *formats: str) -> None:
    """StatementError if a format needs a registry and none is configured."""
    if AVRO in formats:
        home.registry.converter(is_key=False)


def schemas_enabled(given: Properties, value_format: str) -> bool:
    """What JSON_SCHEMAS_ENABLE says; StatementError where it cannot be."""
    told = given.get(SCHEMAS, "false").lower()
    if told not in ("true", "false"):
        raise StatementError(f"{SCHEMAS} must be true or false, not {told}.")
    if told == "true" and value_format != "JSON":
        raise StatementError(f"{SCHEMAS} is for VALUE_FORMAT JSON, not {value_format}.")
    return told == "true"


def time_column(given: Properties, columns: tuple[ColumnDef, ...]) -> str:
    """The column that TIMESTAMP names; empty if it is not given."""
    wanted = given.get("TIMESTAMP", "")
    names = {column.name.upper(): column for column in columns}
    if not wanted:
        return ""
    column = names.get(wanted.strip("`").upper())
    if column is None:
        raise StatementError(f"TIMESTAMP: there is no column {wanted}.{nearest(wanted, names)}")
    if column.type.name not in ("BIGINT", "TIMESTAMP"):
        raise NotSupportedYet(f"TIMESTAMP from a column of type {column.type}")
    return column.name


def _inferred(
    home: Home, statement: so.CreateSource, given: Properties, topic: str
) -> tuple[tuple[ColumnDef, ...], str]:
    value_format = chosen_format(given, "VALUE_FORMAT", "JSON")
    if value_format not in OBJECTS:
        raise StatementError("Columns can be inferred of JSON and AVRO only: declare them.")
    if value_format == AVRO:
        return inferred_of_avro(home, statement.kind, topic)
    sample = sample_of(home.connection(), topic)
    if not sample:
        raise StatementError(f"Topic {topic} is empty: no columns can be inferred, declare them.")
    role = "PRIMARY KEY" if statement.kind is SourceKind.TABLE else "KEY"
    found = tuple(replace(c, name=c.name.upper()) for c in value_columns(sample))
    columns, key_format = keyed(value_columns(sample), sample, role)
    if not key_format and statement.kind is SourceKind.TABLE:
        raise without_key(topic)
    columns = tuple(replace(c, name=c.name.upper()) for c in columns)
    return (columns, key_format) if key_format else (found, "KAFKA")


def _check(statement: so.CreateSource, columns: tuple[ColumnDef, ...]) -> None:
    names = [column.name for column in columns]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise StatementError(f"There are two columns {twice}.")
    if hidden := next((name for name in names if name in PSEUDO), None):
        raise StatementError(f"{hidden} is a column of every stream and table already.")
    roles = {column.role for column in columns}
    if statement.kind is SourceKind.TABLE and "PRIMARY KEY" not in roles:
        raise StatementError(
            "A table needs a PRIMARY KEY: (id VARCHAR PRIMARY KEY, …). Without one, it is a stream."
        )
    if (wrong := "KEY" if statement.kind is SourceKind.TABLE else "PRIMARY KEY") in roles:
        right = "PRIMARY KEY" if statement.kind is SourceKind.TABLE else "KEY"
        raise StatementError(f"A {statement.kind.lower()} has a {right}, not a {wrong}.")


def ensure_topic(home: Home, topic: str, given: Properties, *, compacted: bool = False) -> None:
    """With PARTITIONS a missing topic is made; one that differs is refused."""
    admin, wanted = home.catalog.admin, given.get("PARTITIONS", "")
    if wanted and not wanted.isdigit():
        raise StatementError(f"PARTITIONS must be a whole number, not {wanted}.")
    found = topics.partitions_of(admin, [topic])[topic]
    if not found and not wanted:
        hint = nearest(topic, topics.all_topics(admin))
        raise StatementError(
            f"Topic {topic} does not exist.{hint} With PARTITIONS=… in WITH it is created."
        )
    if found and wanted and int(wanted) != found:
        raise StatementError(f"Topic {topic} has {found} partitions, not {wanted}.")
    if not found:
        config = {"cleanup.policy": "compact"} if compacted else {}
        config |= {"retention.ms": given["RETENTION_MS"]} if "RETENTION_MS" in given else {}
        replicas = int(given.get("REPLICAS", "-1"))
        topics.ensure_topic(
            admin, topic, partitions=int(wanted), replication=replicas, config=config
        )


def drop(home: Home, statement: so.DropSource) -> Result:
    """Forget a stream or table; its topic stays, unless that is to go as well."""
    source = home.catalog.find(statement.name)
    if source is None and statement.if_exists:
        return warning(f"{statement.kind.capitalize()} {statement.name} does not exist.")
    source = source or home.catalog.source(statement.name)
    if source.kind != statement.kind:
        raise StatementError(f"{source.name} is a {source.kind.lower()}: use DROP {source.kind}.")
    refuse_used(home, source)
    if statement.delete_topic:
        _delete_topic(home, source)
    number = home.catalog.remove(source.name)
    gone = f" and topic {source.topic}" if statement.delete_topic else ""
    return message(
        f"Dropped {source.kind.lower()} {source.name}{gone}.",
        commandId=command_id(source.kind, source.name, "drop"),
        commandSequenceNumber=number,
    )


def refuse_used(home: Home, source: Source) -> None:
    """StatementError while a persistent query reads or writes it, in ksqlDB's words."""
    found = home.catalog.queries().values()
    reading = [query.id for query in found if source.name in query.reads]
    writing = [query.id for query in found if query.sink.name == source.name]
    if reading or writing:
        raise StatementError(
            f"Cannot drop {source.name}.\n"
            f"The following queries read from this source: [{', '.join(reading)}].\n"
            f"The following queries write into this source: [{', '.join(writing)}].\n"
            f"You need to terminate them before dropping {source.name}."
        )


def _delete_topic(home: Home, source: Source) -> None:
    home.refuse_closed(source.topic)
    shared = [
        each.name
        for each in home.catalog.sources().values()
        if each.topic == source.topic and each.name != source.name
    ]
    if shared:
        raise StatementError(f"Topic {source.topic} is also that of {', '.join(shared)}.")
    try:
        home.catalog.admin.delete_topics([source.topic])[source.topic].result(topics.ADMIN_TIMEOUT)
    except KafkaException as error:
        raise StatementError(f"Topic {source.topic} was not deleted: {error}") from None


def add_columns(home: Home, statement: so.AddColumns) -> Result:
    """Declare further columns."""
    source = home.catalog.source(statement.name)
    new = resolved(statement.columns, home.catalog.types())
    if any(column.role for column in new):
        raise StatementError("Keys cannot be added: declare it again with CREATE OR REPLACE.")
    changed = replace(source, columns=(*source.columns, *new))
    _check(so.CreateSource(source.kind, source.name, (), ()), changed.columns)
    number = home.catalog.put(changed)
    done = message(
        f"Altered {source.kind.lower()} {source.name}.",
        commandId=command_id(source.kind, source.name, "alter"),
        commandSequenceNumber=number,
    )
    return Result(done.entity, done.parts, still_reading(home, source.name))


def create_type(home: Home, statement: so.CreateType) -> Result:
    """Name a type."""
    if statement.name in home.catalog.types():
        if statement.if_not_exists:
            return warning(f"Type {statement.name} already exists")
        raise AlreadyExists(f"A type with the name {statement.name} already exists.")
    kind = resolved_type(statement.type, home.catalog.types())
    number = home.catalog.put_type(statement.name, kind)
    return message(
        f"Registered custom type with name '{statement.name}'.",
        commandId=command_id("type", statement.name, "create"),
        commandSequenceNumber=number,
    )


def drop_type(home: Home, statement: so.DropType) -> Result:
    """Forget a type."""
    if statement.name not in home.catalog.types():
        if statement.if_exists:
            return warning(f"Type {statement.name} does not exist")
        hint = nearest(statement.name, home.catalog.types())
        raise StatementError(f"There is no type {statement.name}.{hint}")
    number = home.catalog.remove_type(statement.name)
    return message(
        f"Type '{statement.name}' dropped.",
        commandId=command_id("type", statement.name, "drop"),
        commandSequenceNumber=number,
    )
