"""Records of a topic as rows of a stream or table, in Spark's SQL.

A field of JSON is found whatever its case, as in ksqlDB: an object is read as a map from name to
text, out of which each column is taken and cast. What cannot be read is NULL; a record whose value
is no object at all is skipped, and counted (``misfits``, ``UNREADABLE_VALUE``).
"""

# ruff: noqa: S608 - what is put into the text is written by `quoted` and `text`

from __future__ import annotations

from collections.abc import Iterable

from penstock.sql.catalog.source import AVRO, OBJECTS, PSEUDO, WINDOW_BOUNDS, Source
from penstock.sql.errors import NotSupportedYet
from penstock.sql.planning.moments import LAST_MOMENT, day_of, moment_of
from penstock.sql.planning.spark_types import quoted, spark_type, text
from penstock.sql.statements.kinds import WindowKind
from penstock.sql.statements.types import ColumnDef, SqlType

MAP = "'map<string,string>'"
CORRUPT = "penstock_corrupt"
"""Of a value of DELIMITED that has more columns than were declared, or fewer: all of it."""
WINDOW_START, WINDOW_END = "penstock_window_start", "penstock_window_end"
RAW_COLUMNS = "key, value, partition, offset, timestamp, headers"
KEY_TEXT, VALUE_TEXT = "penstock_key_text", "penstock_value_text"
TEXTS = {KEY_TEXT: "BINARY", VALUE_TEXT: "BINARY"}
"""The JSON of keys and values of Avro, which a stage adds to the records."""


def rows_of(source: Source, raw: str, *, latest: bool) -> str:
    """A query over the view ``raw`` of Kafka records; ``latest``: of each key the last, if any."""
    return columns_of(source, f"({parsed_of(source, raw, latest=latest)})")


def parsed_of(source: Source, raw: str, *, latest: bool, more: Iterable[str] = ()) -> str:
    """The records with their values as ``v``, which is NULL of one that cannot be read.

    ``more`` are further columns of ``raw`` that are kept.
    """
    window = [WINDOW_START, WINDOW_END] if source.window else []
    columns = [RAW_COLUMNS, *more, *window]
    columns += [f"{_value(source)} AS v", f"{_key_part(source)} AS k"]
    records = _unwindowed(source, _records(source, raw, latest=latest))
    return f"SELECT {', '.join(columns)} FROM {_prepared(source, records)}"


def _unwindowed(source: Source, records: str) -> str:
    """Keys without their window, whose bounds are columns of their own."""
    if not source.window:
        return records
    length = source.window_bytes
    start = from_kafka("substring(key, octet_length(key) - 7, 8)", SqlType("BIGINT"))
    end = f"{start} + {source.window_size}"
    if source.window is WindowKind.SESSION:
        end = from_kafka("substring(key, octet_length(key) - 15, 8)", SqlType("BIGINT"))
    key = f"substring(key, 1, octet_length(key) - {length})"
    rest = ", ".join([RAW_COLUMNS.removeprefix("key, "), *text_columns(source)])
    bounds = f"{start} AS {WINDOW_START}, {end} AS {WINDOW_END}"
    return f"(SELECT {key} AS key, {rest}, {bounds} FROM {records})"


def _prepared(source: Source, records: str) -> str:
    """Values of JSON are parsed once, into ``w``: what they hold is asked several times."""
    if not source.has_objects:
        return records
    value = VALUE_TEXT if source.value_format == AVRO else "value"
    whole = _map_of(f"CAST({value} AS STRING)", exact=_is_exact(source))
    return f"(SELECT *, {whole} AS w FROM {records})"


def _is_exact(source: Source) -> bool:
    return any(_has_decimals(column.type) for column in source.values)


def _has_decimals(kind: SqlType) -> bool:
    inside = [*kind.arguments, *(each for _, each in kind.fields)]
    return kind.name == "DECIMAL" or any(map(_has_decimals, inside))


def _map_of(json: str, *, exact: bool) -> str:
    """An object as a map from name to text.

    ``exact``: Spark reads a number as a DOUBLE before it gives its text, unless it is a VARIANT,
    which takes longer.
    """
    if not exact:
        return f"from_json({json}, {MAP})"
    read = f"from_json({json}, 'map<string,variant>')"
    return f"transform_values({read}, (n, each) -> CAST(each AS STRING))"


def _list_of(json: str, *, exact: bool) -> str:
    """A list of texts; see above."""
    if not exact:
        return f"from_json({json}, 'array<string>')"
    return f"transform(from_json({json}, 'array<variant>'), each -> CAST(each AS STRING))"


def text_columns(source: Source) -> list[str]:
    """Which of ``TEXTS`` its records have."""
    return [name for name, there in zip(TEXTS, source.avro, strict=True) if there]


def columns_of(source: Source, parsed: str, *, tombstones: bool = False) -> str:
    """The columns of what ``parsed_of`` gives; without tombstones, unless they are asked for.

    With them there is a further column, TOMBSTONE.
    """
    written = column_texts(source).items()
    columns = [f"{each} AS {quoted(name)}" for name, each in written]
    readable = "v IS NOT NULL" if source.has_objects else "value IS NOT NULL"
    if tombstones:
        columns.append("value IS NULL AS TOMBSTONE")
        readable = f"({readable} OR value IS NULL)"
    return f"SELECT {', '.join(columns)} FROM {parsed} WHERE {readable}"


def column_texts(source: Source) -> dict[str, str]:
    """What each column is in what ``parsed_of`` gives, those that every source has included."""
    declared = {column.name: _column(source, column) for column in source.columns}
    pseudo = dict(zip(PSEUDO, (_row_time(source), "partition", "offset"), strict=True))
    if source.window:
        pseudo |= dict(zip(WINDOW_BOUNDS, (WINDOW_START, WINDOW_END), strict=True))
    return {**declared, **pseudo}


UNREADABLE_VALUE = "value IS NOT NULL AND v IS NULL"
"""Of what ``parsed_of`` gives: whether a record has a value that cannot be read at all."""


def _records(source: Source, raw: str, *, latest: bool) -> str:
    if not latest:
        return raw
    columns = ", ".join([RAW_COLUMNS, *text_columns(source)])
    # Equal keys of Avro may have been written with different schemas.
    same = f"coalesce({KEY_TEXT}, key)" if source.key_format == AVRO else "key"
    last = f"max_by(struct({columns}), offset) AS r"
    return f"(SELECT r.* FROM (SELECT {last} FROM {raw} WHERE key IS NOT NULL GROUP BY {same}))"


def _value(source: Source) -> str:
    """The value before it is taken apart."""
    if source.value_format == "JSON":
        return _without_schema("w", exact=_is_exact(source))
    if source.value_format == AVRO:
        return "w"
    if source.value_format == "DELIMITED":
        fields = ", ".join(f"{quoted(column.name)} STRING" for column in source.values)
        fields = f"{fields}, {CORRUPT} STRING"
        given = f"'sep', {text(source.delimiter)}, 'columnNameOfCorruptRecord', '{CORRUPT}'"
        options = f"map({given}, 'escape', '\"')"  # a quote within quotes is written twice
        return f"from_csv(CAST(value AS STRING), {text(fields)}, {options})"
    if len(source.values) > 1:
        raise NotSupportedYet("VALUE_FORMAT 'KAFKA' with more than one column")
    return "value"


def object_of(json: str, *, exact: bool = False) -> str:
    """A JSON object as a map; of one with its schema, the payload."""
    return _without_schema(_map_of(json, exact=exact), exact=exact)


def _without_schema(whole: str, *, exact: bool) -> str:
    payload = _map_of(f"{whole}['payload']", exact=exact)
    enveloped = f"size({whole}) = 2 AND map_contains_key({whole}, 'schema')"
    return (
        f"CASE WHEN {enveloped} AND map_contains_key({whole}, 'payload') THEN {payload} "
        f"ELSE {whole} END"
    )


def _key_part(source: Source) -> str:
    if source.key_format == "JSON":
        whole = "from_json(CAST(key AS STRING), 'struct<schema:string,payload:string>')"
        return f"coalesce({whole}.payload, CAST(key AS STRING))"
    if source.key_format == AVRO:
        return f"CAST({KEY_TEXT} AS STRING)"
    return "CAST(key AS STRING)"


def _column(source: Source, column: ColumnDef) -> str:
    if column.role == "HEADERS":
        return _header(column)
    if column.is_key:
        return _key_column(source, column)
    if source.has_objects:
        return from_json(field_of("v", column.name), column.type)
    if source.value_format == "DELIMITED":
        return _from_text(f"v.{quoted(column.name)}", column.type)
    return from_kafka("v", column.type)


def _header(column: ColumnDef) -> str:
    if not column.header:
        return "headers"
    return f"try_element_at(filter(headers, h -> h.key = {text(column.header)}), -1).value"


def _key_column(source: Source, column: ColumnDef) -> str:
    if len(source.keys) > 1:
        if source.key_format not in OBJECTS:
            raise NotSupportedYet(f"KEY_FORMAT '{source.key_format}' with more than one column")
        whole = object_of("k", exact=_has_decimals(column.type))
        return from_json(field_of(whole, column.name), column.type)
    if source.key_format == "KAFKA":
        return from_kafka("key", column.type)
    if source.key_format == "DELIMITED":
        return _from_text("k", column.type)
    unquoted = "CASE WHEN k LIKE '\"%' THEN get_json_object(concat('[', k, ']'), '$[0]') ELSE k END"
    return from_json(unquoted, column.type)


def field_of(json_map: str, name: str) -> str:
    """A field of an object, whatever its case; the first, if there are several."""
    same = f"filter(map_entries({json_map}), e -> upper(e.key) = {text(name.upper())})"
    return f"try_element_at({same}, 1).value"


def from_json(json: str, kind: SqlType) -> str:
    """A value out of the JSON text of a field; the text of a JSON string has no quotes."""
    exact = _has_decimals(kind)
    if kind.name == "STRUCT":
        fields = (f"{text(n)}, {from_json(field_of('s', n), each)}" for n, each in kind.fields)
        made = f"named_struct({', '.join(fields)})"
        # A lambda names the parsed object, so that it is written out once and not per field.
        parsed = f"transform(array({_map_of(json, exact=exact)}), s -> {made})"
        return f"CASE WHEN from_json({json}, {MAP}) IS NOT NULL THEN {parsed}[0] END"
    if kind.name == "ARRAY":
        inner = from_json("x", kind.arguments[0])
        return f"transform({_list_of(json, exact=exact)}, x -> {inner})"
    if kind.name == "MAP":
        inner = from_json("w", kind.arguments[1])
        return f"transform_values({_map_of(json, exact=exact)}, (n, w) -> {inner})"
    return _from_text(json, kind)


def _from_text(value: str, kind: SqlType) -> str:
    if kind.name == "VARCHAR":
        return value
    if kind.name == "BYTES":
        return f"try_to_binary({value}, 'base64')"
    if kind.name == "DATE":
        return day_of(f"try_cast({value} AS INT)")
    if kind.name == "TIMESTAMP":
        return moment_of(f"try_cast({value} AS BIGINT)")
    return f"try_cast({value} AS {spark_type(kind)})"


def from_kafka(data: str, kind: SqlType) -> str:
    """A value of Kafka's own serializers."""
    number = f"CAST(conv(hex({data}), 16, -10) AS BIGINT)"
    if kind.name == "VARCHAR":
        return f"CAST({data} AS STRING)"
    if kind.name == "BYTES":
        return data
    if kind.name == "BIGINT":
        return f"CASE WHEN octet_length({data}) = 8 THEN {number} END"
    if kind.name == "INTEGER":
        signed = f"CASE WHEN {number} >= 2147483648 THEN {number} - 4294967296 ELSE {number} END"
        return f"CASE WHEN octet_length({data}) = 4 THEN CAST({signed} AS INT) END"
    raise NotSupportedYet(f"format KAFKA with a column of type {kind}")


def _row_time(source: Source) -> str:
    column = next((c for c in source.columns if c.name == source.timestamp), None)
    if column is None:
        return "unix_millis(timestamp)"
    value = _column(source, column)
    time = f"unix_millis({value})" if column.type.name == "TIMESTAMP" else value
    return f"CASE WHEN {time} BETWEEN 0 AND {LAST_MOMENT} THEN {time} END"
