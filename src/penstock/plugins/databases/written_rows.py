"""Records as rows of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from penstock.plugins.databases.conversions import (
    INFINITE_DAY,
    INFINITY_MILLIS,
    MINUS_INFINITE_DAY,
    MINUS_INFINITY_MILLIS,
    moment_texts,
)
from penstock.plugins.databases.sink_settings import KAFKA_COLUMNS, SinkSettings
from penstock.sdk.errors import ConfigError, RecordError
from penstock.sdk.schema import Schema, SchemaType, from_field, is_schemaless
from penstock.sdk.tasks import PartitionId

DELETED: Final = "penstock_deleted"
"""The column that says whether a record deletes the row of its key."""
PLACE: Final = "penstock_place"
"""The column with a record's place in its batch."""


@dataclass(frozen=True)
class Rows:
    """What is written of one batch: arrays by column, and the schema of each."""

    data: pa.Table
    schemas: Mapping[str, Schema]
    keys: tuple[str, ...]
    zone: str = "UTC"
    """That of the columns' timestamps without one."""

    @property
    def only_deletes(self) -> bool:
        """Whether no record has a value."""
        return bool(pc.all(self.data.column(DELETED)).as_py())

    @property
    def columns(self) -> list[str]:
        """The table's columns, in order."""
        return list(self.schemas)


def rows_of(settings: SinkSettings, batch: pa.RecordBatch, position: PartitionId) -> Rows:
    """``RecordError`` for the first record that cannot be a row."""
    _refuse_tombstones(settings, batch)
    parts: dict[str, tuple[Any, Schema]] = {}
    keys = _add_key(settings, batch, position, parts)
    values = _fields(batch, "value")
    wanted = settings.fields or tuple(values)
    for name in wanted:
        if name in values and name not in parts:
            parts[name] = values[name]
    arrays = {name: _storable(array) for name, (array, _) in parts.items()}
    arrays[DELETED] = pc.is_null(batch.column("value"))
    schemas = {name: schema for name, (_, schema) in parts.items()}
    return Rows(pa.table(arrays), schemas, keys, settings.zone)


def placed(data: pa.Table) -> pa.Table:
    """With ``PLACE``."""
    return data.append_column(PLACE, pa.array(range(len(data)), pa.int32()))


def last_of_each(data: pa.Table, keys: Sequence[str]) -> pa.Table:
    """The last row of each key, in the order of the keys."""
    names = [f"key {number}" for number in range(len(keys))]
    found = pa.table([*map(data.column, keys), pa.array(range(len(data)))], [*names, PLACE])
    try:
        latest = found.group_by(names).aggregate([(PLACE, "max")])
        return data.take(latest.sort_by([(name, "ascending") for name in names])[f"{PLACE}_max"])
    except pa.ArrowNotImplementedError:  # of a type that Arrow does not compare, as arrays
        rows = {str(row): place for place, row in enumerate(data.select(keys).to_pylist())}
        return data.take(pa.array([rows[text] for text in sorted(rows)], pa.int64()))


def _refuse_tombstones(settings: SinkSettings, batch: pa.RecordBatch) -> None:
    if settings.delete:
        return
    row = pc.index(pc.is_null(batch.column("value")), True).as_py()
    if row >= 0:
        raise RecordError(
            "The record has no value. Set 'delete.enabled' to true if it should delete a row.",
            row=row,
        )


def _add_key(
    settings: SinkSettings,
    batch: pa.RecordBatch,
    position: PartitionId,
    parts: dict[str, tuple[Any, Schema]],
) -> tuple[str, ...]:
    """Adds the columns of the primary key; their names."""
    if settings.pk_mode == "none":
        return ()
    if settings.pk_mode == "kafka":
        parts |= _coordinates(settings, batch, position)
        return tuple(parts)
    side = "key" if settings.pk_mode == "record_key" else "value"
    found = _fields(batch, side, settings.pk_fields[0] if settings.pk_fields else "")
    names = settings.pk_fields or tuple(found)
    for name in names:
        if name not in found:
            raise RecordError(f"The record's {side} has no field {name}, which 'pk.fields' names.")
        _refuse_null_key(found[name][0], name)
        parts[name] = found[name]
    return names


def _refuse_null_key(array: Any, name: str) -> None:
    row = pc.index(pc.is_null(array), True).as_py()
    if row >= 0:
        raise RecordError(f"The record has no {name}, which is in the primary key.", row=row)


def _coordinates(
    settings: SinkSettings, batch: pa.RecordBatch, position: PartitionId
) -> dict[str, tuple[Any, Schema]]:
    """Where the records are in Kafka: the topics that transforms make may be one."""
    topic, partition, offset = settings.pk_fields or KAFKA_COLUMNS
    rows = batch.num_rows
    return {
        topic: (pa.repeat(pa.scalar(position[0]), rows), Schema.string()),
        partition: (pa.repeat(pa.scalar(position[1], pa.int32()), rows), Schema.int32()),
        offset: (batch.column("offset"), Schema.int64()),
    }


def _fields(batch: pa.RecordBatch, side: str, plain: str = "") -> dict[str, tuple[Any, Schema]]:
    """The fields of a structure; ``plain`` is the name for what is none."""
    field, column = batch.schema.field(side), batch.column(side)
    if column.null_count == len(column):
        return {} if side == "value" else {plain or "key": (column, Schema.string())}
    if is_schemaless(field):
        raise RecordError(
            f"The record's {side} has no schema, which a table needs. Use a converter with "
            "schemas, for JSON with 'schemas.enable' set to true."
        )
    schema = from_field(field)
    assert schema is not None  # noqa: S101 (not schemaless)
    if schema.type is SchemaType.STRUCT:
        flat = column.flatten()
        return {
            name: (flat[place], inner) for place, (name, inner) in enumerate(schema.fields.items())
        }
    if side == "key" and plain:
        return {plain: (column, schema)}
    if side == "key":
        message = "The records' keys are not structures: set 'pk.fields' to their column's name."
        raise ConfigError(message, key="pk.fields")
    raise RecordError(f"The record's {side} is not a structure, so it has no columns.")


def _storable(array: Any) -> Any:
    """In a type that COPY takes, with infinity as PostgreSQL says it."""
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if pa.types.is_time(array.type):
        return array.cast(pa.time64("us"))
    if pa.types.is_timestamp(array.type) and array.type.unit in ("s", "ms"):
        return _timestamps(array.cast(pa.timestamp("ms", tz=array.type.tz)))
    if pa.types.is_date(array.type):
        return _dates(array)
    return array


def _timestamps(array: Any) -> Any:
    numbers = array.cast(pa.int64())
    infinite = pc.is_in(numbers, pa.array([INFINITY_MILLIS, MINUS_INFINITY_MILLIS]))
    if not pc.any(infinite).as_py():
        return array
    known = pc.if_else(infinite, pa.scalar(0, pa.int64()), numbers).cast(pa.timestamp("ms"))
    texts = moment_texts(known, "-%m-%dT%H:%M:%S", "Z")
    return _with_infinities(texts, numbers, INFINITY_MILLIS, MINUS_INFINITY_MILLIS)


def _dates(array: Any) -> Any:
    days = array.cast(pa.date32()).cast(pa.int32())
    infinite = pc.is_in(days, pa.array([INFINITE_DAY, MINUS_INFINITE_DAY], pa.int32()))
    if not pc.any(infinite).as_py():
        return array
    known = pc.if_else(infinite, pa.scalar(0, pa.int32()), days).cast(pa.date32())
    texts = moment_texts(known.cast(pa.timestamp("s")), "-%m-%d")
    return _with_infinities(texts, days, INFINITE_DAY, MINUS_INFINITE_DAY)


def _with_infinities(texts: Any, numbers: Any, plus: int, minus: int) -> Any:
    texts = pc.if_else(pc.equal(numbers, plus), "infinity", texts)
    return pc.if_else(pc.equal(numbers, minus), "-infinity", texts)
