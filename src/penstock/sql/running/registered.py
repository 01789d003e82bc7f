"""What the schema registry knows of a topic: its columns, and its records as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from penstock.columnar.json_text import Misfit
from penstock.sdk.schema import SchemaType
from penstock.sql.avro.columns import AvroTexts
from penstock.sql.avro.schemas import columns_of, read, type_of
from penstock.sql.catalog.inference import Sampled, keyed, without_key
from penstock.sql.catalog.sampling import sample_of
from penstock.sql.catalog.source import AVRO
from penstock.sql.errors import StatementError
from penstock.sql.running.home import Home
from penstock.sql.statements.kinds import SourceKind
from penstock.sql.statements.types import ColumnDef

Columns = tuple[ColumnDef, ...]
ROWKEY = "ROWKEY"


def inferred_of_avro(home: Home, kind: SourceKind, topic: str) -> tuple[Columns, str]:
    """The columns of a topic of Avro with its key, and the key's format."""
    values = value_columns_of(home, topic)
    if not values:
        raise StatementError(
            f"The schema registry has no record under subject {topic}-value: write to topic "
            f"{topic} first, or declare the columns."
        )
    role = "PRIMARY KEY" if kind is SourceKind.TABLE else "KEY"
    columns, key_format = _keyed(home, topic, values, role)
    if not key_format and kind is SourceKind.TABLE:
        raise without_key(topic)
    return tuple(replace(c, name=c.name.upper()) for c in columns), key_format or "KAFKA"


def value_columns_of(home: Home, topic: str) -> Columns:
    """The columns of the latest schema of a topic's values; none if there is none."""
    text = home.registry.latest(f"{topic}-value")
    try:
        return columns_of(text) if text is not None else ()
    except Misfit as error:
        raise StatementError(f"The schema of subject {topic}-value: {error}") from None


def _keyed(home: Home, topic: str, values: Columns, role: str) -> tuple[Columns, str]:
    text = home.registry.latest(f"{topic}-key")
    sample = sample_of(home.connection(), topic)
    if text is None:
        return keyed(values, _in_json(home, sample, keys=False), role)
    schema = read(text)
    if schema.type is SchemaType.STRUCT:
        keys = tuple(replace(c, role=role) for c in columns_of(text))
        names = {each.name.upper() for each in keys}
        return (*keys, *(c for c in values if c.name.upper() not in names)), AVRO
    columns, found = keyed(values, _in_json(home, sample, keys=True), role)
    if not found and sample:
        return values, ""
    if not found or columns[0].name == ROWKEY:
        return (ColumnDef(ROWKEY, type_of(schema), role), *values), AVRO
    return columns, AVRO


def _in_json(home: Home, sample: Sequence[Sampled], *, keys: bool) -> list[Sampled]:
    values = AvroTexts(home.registry, is_key=False).read(_array([each.value for each in sample]))
    raw = _array([each.key for each in sample])
    texts = AvroTexts(home.registry, is_key=True).read(raw) if keys else raw
    pairs = zip(texts.to_pylist(), values.to_pylist(), strict=True)
    return [Sampled(key, value) for key, value in pairs]


def _array(values: list[bytes | None]) -> pa.Array:
    return pa.array(values, pa.binary())
