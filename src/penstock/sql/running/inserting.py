"""INSERT … VALUES: rows as records. Values are literals, so there is nothing to evaluate."""

from __future__ import annotations

import json
import struct
import time
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from penstock.kafka import clients
from penstock.sql.avro.columns import AvroWriters
from penstock.sql.catalog.connect_schemas import value_schema
from penstock.sql.catalog.source import PSEUDO, Source
from penstock.sql.errors import NotSupportedYet, StatementError, nearest
from penstock.sql.running.fitting import fitted
from penstock.sql.running.home import Home
from penstock.sql.running.results import Result, message
from penstock.sql.statements import expressions as ex
from penstock.sql.statements.kinds import SourceKind
from penstock.sql.statements.queries import InsertValues
from penstock.sql.statements.types import VARCHAR, ColumnDef, SqlType

SECONDS = 20.0
Row = dict[str, Any]
NewRecord = tuple[bytes | None, bytes, int]
"""Key, value and time."""


def insert(home: Home, statement: InsertValues) -> Result:
    """Write the rows; returns when they are stored."""
    source = writable(home, statement.target)
    writers = AvroWriters(home.registry, source)
    rows = [literal_row(source, statement.columns, row) for row in statement.rows]
    records = [_record(writers, row) for row in rows]
    store(home, source.topic, records)
    count = len(records)
    return message(f"Inserted {count} row{'' if count == 1 else 's'} into {source.name}")


def writable(home: Home, name: str) -> Source:
    """A stream or table that rows may be written to; StatementError if there is none."""
    source = home.catalog.source(name)
    home.refuse_closed(source.topic)
    if source.read_only:
        raise StatementError(f"{source.name} was declared with CREATE SOURCE: it is read-only.")
    return source


def record_of(writers: AvroWriters, given: Mapping[str, Any]) -> NewRecord:
    """The record of a row that came as JSON; names of columns in any case, or in backquotes."""
    source = writers.source
    names = {column.name.upper(): column.name for column in source.columns}
    names |= {PSEUDO[0]: PSEUDO[0]}
    row = {}
    for each, value in given.items():
        name = names.get(each.strip("`").upper())
        if name is None:
            raise StatementError(f"{source.name} has no column {each}.{nearest(each, names)}")
        row[name] = _fitting(source, name, value)
    return _record(writers, row)


def literal_row(source: Source, names: tuple[str, ...], values: tuple[ex.Expression, ...]) -> Row:
    """The row that literals stand for: in all columns, or in those that are named."""
    known = [column.name for column in source.columns]
    wanted = list(names) or known
    for name in wanted:
        if name not in (*known, PSEUDO[0]):
            raise StatementError(f"{source.name} has no column {name}.{nearest(name, known)}")
    if len(wanted) != len(values):
        raise StatementError(f"{len(wanted)} columns, but {len(values)} values.")
    given = dict(zip(wanted, map(_value, values), strict=True))
    return {name: _fitting(source, name, value) for name, value in given.items()}


def _value(each: ex.Expression) -> Any:
    if isinstance(each, ex.Literal):
        return each.value
    if isinstance(each, ex.Unary) and each.operator == "-" and isinstance(each.operand, ex.Literal):
        number = each.operand.value
        if isinstance(number, int | float | Decimal) and not isinstance(number, bool):
            # Else decimal numbers would be rounded to 28 places.
            return number.copy_negate() if isinstance(number, Decimal) else -number
    if isinstance(each, ex.MakeArray):
        return [_value(item) for item in each.items]
    if isinstance(each, ex.MakeMap):
        return {str(_value(key)): _value(value) for key, value in each.entries}
    if isinstance(each, ex.MakeStruct):
        return {name: _value(value) for name, value in each.fields}
    raise NotSupportedYet("expressions in VALUES; write literals")


def _fitting(source: Source, name: str, value: Any) -> Any:
    column = next((c for c in source.columns if c.name == name), None)
    if column is None:
        return fitted(name, value, SqlType("BIGINT"))
    form = source.key_format if column.is_key else source.value_format
    # Kafka's own serializer writes the text itself.
    plain = column.type.name == "BYTES" and form == "KAFKA"
    return fitted(name, value, VARCHAR if plain else column.type)


def _record(writers: AvroWriters, row: Row) -> NewRecord:
    source = writers.source
    when = row.get(PSEUDO[0])
    keys = {column.name: row.get(column.name) for column in source.keys}
    if source.kind is SourceKind.TABLE and None in keys.values():
        raise StatementError(f"A row of a table needs its primary key, {', '.join(keys)}.")
    values = {column.name: row.get(column.name) for column in source.values}
    avro_keys, avro_values = source.avro
    key = _avro_key(writers, keys) if avro_keys else _key(source, keys)
    value = writers.values.one(values) or b"" if avro_values else _encoded(source, values)
    return key, value, int(time.time() * 1000) if when is None else when


def _avro_key(writers: AvroWriters, keys: Row) -> bytes | None:
    if all(value is None for value in keys.values()):
        return None
    single = next(iter(keys.values())) if len(keys) == 1 else keys
    return writers.keys.one(single)


def _key(source: Source, keys: Row) -> bytes | None:
    if not keys or all(value is None for value in keys.values()):
        return None
    if len(keys) > 1:
        if source.key_format != "JSON":
            raise NotSupportedYet(f"KEY_FORMAT '{source.key_format}' with more than one column")
        return _json(keys)
    value = next(iter(keys.values()))
    if source.key_format == "JSON":
        return _json(value)
    return _kafka(source.keys[0], value) if source.key_format == "KAFKA" else str(value).encode()


def _encoded(source: Source, values: Row) -> bytes:
    if source.value_format == "JSON":
        schema = value_schema(source.values) if source.with_schema else None
        return _json({"schema": schema, "payload": values} if schema else values)
    if source.value_format == "DELIMITED":
        return source.delimiter.join(_cell(v, source.delimiter) for v in values.values()).encode()
    return _kafka(source.values[0], next(iter(values.values()))) or b""


def _cell(value: Any, delimiter: str) -> str:
    text = "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    if delimiter in text or '"' in text or "\n" in text:
        return '"' + text.replace('"', '""') + '"'
    return text


def _kafka(column: ColumnDef, value: Any) -> bytes | None:
    """As Kafka's own serializers write it."""
    forms = {"INTEGER": ">i", "BIGINT": ">q", "DOUBLE": ">d"}
    if value is None:
        return None
    try:
        form = forms.get(column.type.name)
        return str(value).encode() if form is None else struct.pack(form, value)
    except struct.error:
        raise StatementError(f"{column.name} is {column.type}: {value} is too large.") from None


def _json(value: Any) -> bytes:
    return _json_text(value).encode()


def _json_text(value: Any) -> str:
    """Decimal numbers keep all their places, which Python's JSON has no way to write."""
    if isinstance(value, dict):
        told = (f"{_json_text(str(key))}: {_json_text(each)}" for key, each in value.items())
        return f"{{{', '.join(told)}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_json_text, value))}]"
    return f"{value:f}" if isinstance(value, Decimal) else json.dumps(value, ensure_ascii=False)


def store(home: Home, topic: str, records: Sequence[NewRecord]) -> None:
    """Write records; returns when all are stored, StatementError if one is not."""
    failures: list[str] = []
    producer = clients.producer(home.connection())
    for key, value, when in records:
        producer.produce(
            topic,
            value,
            key,
            timestamp=when,
            on_delivery=lambda error, _: failures.append(str(error)) if error else None,
        )
    if producer.flush(SECONDS) or failures:
        told = failures[0] if failures else "no answer in time"
        raise StatementError(f"The rows could not be stored in topic {topic}: {told}")
