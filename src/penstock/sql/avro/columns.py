"""Columns of records: Avro with its header as the JSON that SQL reads, and JSON as Avro."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from penstock.columnar.json_records import payload_column
from penstock.columnar.json_text import JsonOptions, Misfit, texts
from penstock.columnar.json_values import column
from penstock.kafka.errors import BrokerUnavailable
from penstock.sdk.errors import RecordError, RetriableError
from penstock.sdk.schema import Schema, from_field, to_field
from penstock.sql.avro.registry import SqlRegistry
from penstock.sql.avro.schemas import key_schema, record_schema
from penstock.sql.catalog.source import AVRO, Source
from penstock.sql.errors import StatementError

if TYPE_CHECKING:
    from penstock.registry.avro_converter import AvroConverter
    from penstock.sdk.converters import Decoded

OPTIONS = JsonOptions(numeric_decimals=True)


@contextmanager
def answering() -> Iterator[None]:
    """A registry that does not answer is what a broker is: the turn is tried again."""
    try:
        yield
    except RetriableError as error:
        raise BrokerUnavailable(str(error)) from None


@dataclass(frozen=True)
class AvroTexts:
    """Reads keys or values of any schema that the registry knows."""

    registry: SqlRegistry
    is_key: bool

    def read(self, data: pa.Array) -> pa.Array:
        """The JSON of each record; null for what is null, and for what cannot be read.

        BrokerUnavailable if the registry does not answer, UserError if it does not let us in.
        """
        with answering():
            return self._readable(data)

    def _readable(self, data: pa.Array) -> pa.Array:
        try:
            return self._read(data)
        except (RecordError, Misfit):
            each = [self._one(data.slice(row, 1)) for row in range(len(data))]
            return pa.array(each, pa.binary())

    def _one(self, data: pa.Array) -> bytes | None:
        try:
            found: bytes | None = self._read(data)[0].as_py()
        except (RecordError, Misfit):
            return None
        return found

    def _read(self, data: pa.Array) -> pa.Array:
        parts = [_texts(each) for each in self._converter.decode(data)]
        return pa.concat_arrays(parts) if parts else pa.array([], pa.binary())

    @cached_property
    def _converter(self) -> AvroConverter:
        return self.registry.converter(is_key=self.is_key)


def _texts(decoded: Decoded) -> pa.Array:
    schema = from_field(decoded.field)
    if schema is None:
        return pa.nulls(len(decoded.array), pa.binary())
    return texts(decoded.array, schema, OPTIONS).cast(pa.binary())


@dataclass(frozen=True)
class AvroRecords:
    """Writes keys or values of one schema, into one topic."""

    registry: SqlRegistry
    topic: str
    schema: Schema
    is_key: bool

    @property
    def subject(self) -> str:
        """Under which the registry has the schema."""
        return f"{self.topic}-{'key' if self.is_key else 'value'}"

    def register(self) -> None:
        """Make the registry know the schema; StatementError if Avro or the registry does not
        take it."""
        from penstock.registry.avro_columns import AvroColumnWriter

        try:
            text = AvroColumnWriter(self.schema).text
        except Misfit as error:
            raise StatementError(f"AVRO cannot hold these columns: {error}") from None
        self.registry.register(self.subject, text)

    def write(self, json: pa.Array) -> pa.Array:
        """Records of the JSON that SQL has written; null stays null."""
        return self._written(payload_column(self.schema, json.to_pylist(), OPTIONS))

    def _written(self, array: pa.Array) -> pa.Array:
        field = to_field(self.schema, "key" if self.is_key else "value")
        with answering():
            return self._converter.encode_for(self.topic, array, field)

    def one(self, value: Any) -> bytes | None:
        """The record of one value, as JSON has it; StatementError if it does not fit."""
        try:
            array = column(self.schema, [_exact(value)], OPTIONS)
            found: bytes | None = self._written(array)[0].as_py()
        except (Misfit, RecordError) as error:
            raise StatementError(f"The row does not fit subject {self.subject}: {error}") from None
        return found

    @cached_property
    def _converter(self) -> AvroConverter:
        return self.registry.converter(is_key=self.is_key)


def _exact(value: Any) -> Any:
    """The same without floats, of which decimals cannot be made."""
    if isinstance(value, dict):
        return {name: _exact(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_exact(each) for each in value]
    return Decimal(repr(value)) if isinstance(value, float) else value


def value_records(registry: SqlRegistry, source: Source) -> AvroRecords:
    """What writes the values of a stream or table."""
    return AvroRecords(registry, source.topic, record_schema(source.values), is_key=False)


def key_records(registry: SqlRegistry, source: Source) -> AvroRecords:
    """What writes its keys."""
    return AvroRecords(registry, source.topic, key_schema(source.keys), is_key=True)


@dataclass(frozen=True)
class AvroWriters:
    """What writes the rows of one stream or table, where its keys or values are Avro."""

    registry: SqlRegistry
    source: Source

    @cached_property
    def keys(self) -> AvroRecords:
        """Of keys."""
        return key_records(self.registry, self.source)

    @cached_property
    def values(self) -> AvroRecords:
        """Of values."""
        return value_records(self.registry, self.source)


def register(registry: SqlRegistry, source: Source) -> None:
    """Make the registry know the schemas of a stream or table; StatementError if it cannot."""
    if not any(source.avro):
        return
    registry.converter(is_key=False)  # refuses what is missing
    if source.value_format == AVRO:
        value_records(registry, source).register()
    if source.key_format == AVRO and source.keys:
        key_records(registry, source).register()
