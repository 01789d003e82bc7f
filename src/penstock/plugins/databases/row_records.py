"""Rows as records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from penstock.sdk.batches import record_batch
from penstock.sdk.databases import Column, Relation
from penstock.sdk.errors import ConfigError, UserError
from penstock.sdk.schema import Schema, to_field


@dataclass(frozen=True)
class RowRecords:
    """Makes records of what was read from one relation."""

    relation: Relation
    topic: str
    keys: tuple[Column, ...]

    @classmethod
    def of(cls, relation: Relation, topic: str, key_columns: Sequence[str]) -> RowRecords:
        """``ConfigError`` if a key column is not there."""
        keys = []
        for name in key_columns:
            column = relation.column(name)
            if column is None:
                known = ", ".join(c.name for c in relation.columns)
                message = f"The {relation.label} has no column {name} for the key; it has {known}."
                raise ConfigError(message, key="key.columns")
            keys.append(column)
        return cls(relation, topic, tuple(keys))

    def batch(self, read: pa.Table) -> pa.RecordBatch:
        """One batch of records, in the order of the rows."""
        arrays = {c.name: self._converted(c, read) for c in self.relation.columns}
        value, value_field = _struct(self.relation.name, self.relation.columns, arrays, "value")
        key, key_field = self._key(arrays)
        return record_batch(
            self.topic, value, key=key, value_field=value_field, key_field=key_field
        )

    def _converted(self, column: Column, read: pa.Table) -> pa.Array:
        try:
            return column.conversion(read.column(column.name).combine_chunks())
        except (pa.ArrowException, UserError) as error:
            raise UserError(
                f"A value in column {column.name} of {self.relation.label}, of type {column.type}, "
                f"cannot be read: {error}. Correct the row, or leave the column out with a query."
            ) from None

    def _key(self, arrays: dict[str, Any]) -> tuple[pa.Array | None, pa.Field | None]:
        if not self.keys:
            return None, None
        if len(self.keys) == 1:
            return arrays[self.keys[0].name], to_field(self.keys[0].schema, "key")
        return _struct(self.relation.name, self.keys, arrays, "key")


def _struct(
    name: str, columns: Sequence[Column], arrays: dict[str, Any], part: str
) -> tuple[pa.Array, pa.Field]:
    schema = Schema.struct({column.name: column.schema for column in columns}, name=name)
    field = to_field(schema, part)
    chosen = [arrays[column.name] for column in columns]
    return pa.StructArray.from_arrays(chosen, fields=list(field.type)), field
