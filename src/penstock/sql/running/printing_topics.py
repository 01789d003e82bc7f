"""PRINT: the records of a topic as they are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice

import pyarrow as pa

from penstock.consumers import Consumer, NoSuchTopic, Offset, Record
from penstock.kafka import topics
from penstock.sql.avro.columns import AvroTexts
from penstock.sql.avro.registry import SqlRegistry
from penstock.sql.errors import StatementError, nearest
from penstock.sql.running.home import Home
from penstock.sql.running.results import Printed, Stop
from penstock.sql.statements.queries import PrintTopic

PATIENCE_SECONDS = 0.5
MAGIC = b"\x00"
"""What records begin with whose schema is in a registry."""


def print_topic(home: Home, statement: PrintTopic) -> Printed:
    """Lines, one per record; without LIMIT they have no end."""
    home.refuse_closed(statement.topic)
    connection = home.connection()
    consumer = Consumer(
        statement.topic,
        start=Offset.beginning() if statement.from_beginning else Offset.end(),
        bootstrap_servers=connection.bootstrap_servers,
        security=connection.security,
    )
    try:
        consumer.open()
    except NoSuchTopic:
        hint = nearest(statement.topic, topics.all_topics(home.catalog.admin))
        raise StatementError(f"Topic {statement.topic} does not exist.{hint}") from None
    stop = Stop()
    forms = _Form(home.registry, is_key=True), _Form(home.registry, is_key=False)
    return Printed(_lines(consumer, statement, stop, *forms), stop)


def _lines(
    consumer: Consumer, statement: PrintTopic, stop: Stop, keys: _Form, values: _Form
) -> Iterator[str]:
    with consumer:
        chosen = islice(_records(consumer, stop), 0, None, max(statement.interval, 1))
        for number, record in enumerate(islice(chosen, statement.limit)):
            if not number:
                yield f"Key format: {keys.name(record.key)}"
                yield f"Value format: {values.name(record.value)}"
            yield _line(record, keys.text(record.key), values.text(record.value))


class _Form:
    """How keys or values are shown: those of Avro, if the registry knows their schema, as JSON."""

    def __init__(self, registry: SqlRegistry, *, is_key: bool) -> None:
        self._avro = AvroTexts(registry, is_key) if registry.is_there else None

    def name(self, data: bytes | None) -> str:
        return "AVRO" if self._in_json(data) is not None else _format(data)

    def text(self, data: bytes | None) -> str:
        return _text(data if (json := self._in_json(data)) is None else json)

    def _in_json(self, data: bytes | None) -> bytes | None:
        if self._avro is None or data is None or data[:1] != MAGIC:
            return None
        found: bytes | None = self._avro.read(pa.array([data], pa.binary()))[0].as_py()
        return found


def _records(consumer: Consumer, stop: Stop) -> Iterator[Record]:
    while not stop.is_set():
        yield from consumer.take(patience=PATIENCE_SECONDS) or ()


def _line(record: Record, key: str, value: str) -> str:
    when = datetime.fromtimestamp((record.timestamp or 0) / 1000, UTC)
    stamp = f"{when:%Y/%m/%d %H:%M:%S}.{when.microsecond // 1000:03d} Z"
    return f"rowtime: {stamp}, key: {key}, value: {value}, partition: {record.partition}"


def _text(data: bytes | None) -> str:
    if data is None:
        return "<null>"
    try:
        return data.decode()
    except UnicodeDecodeError:
        return "0x" + data.hex()


def _format(data: bytes | None) -> str:
    """A guess, as ksqlDB makes it."""
    if data is None:
        return "KAFKA_STRING (or null)"
    try:
        return "JSON or KAFKA_STRING" if json.loads(data) is not None else "KAFKA_STRING"
    except ValueError:
        return "KAFKA_STRING" if _text(data)[:2] != "0x" else "KAFKA_BYTES"
