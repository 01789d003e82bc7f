"""Transforms that change the key or the value, and nothing else."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import pyarrow as pa

from penstock.columnar.json_text import Misfit
from penstock.columnar.transforms.json_rows import changed_rows
from penstock.columnar.transforms.structs import column_field
from penstock.sdk.config import ConfigKey, Importance, Type
from penstock.sdk.errors import RecordError
from penstock.sdk.schema import SCHEMALESS, Schema, from_field
from penstock.sdk.transforms import Transform

PACKAGE = "org.apache.kafka.connect.transforms"

REPLACE_NULL = ConfigKey(
    "replace.null.with.default",
    Type.BOOLEAN,
    default=True,
    importance=Importance.MEDIUM,
    doc="Whether to replace fields that have a default value and that are null to the default "
    "value. When set to true, the default value is used, otherwise null is used.",
)


class SidedTransform(Transform):
    """One column of the batch, by its schema as a whole, or without one row by row.

    A null row has the schema of its column if that is optional, and otherwise none.
    """

    side: ClassVar[str] = "value"
    """The column: ``key`` or ``value``."""

    passes_nulls: ClassVar[bool] = False
    """Whether a null stays as it is, whatever its schema."""

    def apply(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        if not batch.num_rows:
            return batch
        at = batch.schema.get_field_index(self.side)
        made, field = self._changed(batch.column(at), from_field(batch.schema.field(at)), batch)
        return batch.set_column(at, field, made)

    def _changed(
        self, array: pa.Array, schema: Schema | None, batch: pa.RecordBatch
    ) -> tuple[pa.Array, pa.Field]:
        try:
            return self._attempt(array, schema, batch)
        except Misfit:
            raise self._first_misfit(array, schema, batch) from None

    def _attempt(
        self, array: pa.Array, schema: Schema | None, batch: pa.RecordBatch
    ) -> tuple[pa.Array, pa.Field]:
        if self.passes_nulls and schema is not None and array.null_count == len(array):
            return array, column_field(self.side, array, schema)
        if schema is None or without_schema(array, schema):
            made = self.schemaless_column(array, batch)
            return made, SCHEMALESS.with_name(self.side)
        made, described = self.structured(array, schema, batch)
        return made, column_field(self.side, made, described)

    def _first_misfit(
        self, array: pa.Array, schema: Schema | None, batch: pa.RecordBatch
    ) -> RecordError:
        """The first row that fails by itself; found by halving, as all rows before it are fine."""
        low, high = 0, len(array)
        while high - low > 1:
            middle = (low + high) // 2
            if self._misfit(array, schema, batch, low, middle) is None:
                low = middle
            else:
                high = middle
        return RecordError(str(self._misfit(array, schema, batch, low, low + 1)), row=low)

    def _misfit(
        self, array: pa.Array, schema: Schema | None, batch: pa.RecordBatch, start: int, stop: int
    ) -> Misfit | RecordError | None:
        rows = stop - start
        try:
            self._attempt(array.slice(start, rows), schema, batch.slice(start, rows))
        except (Misfit, RecordError) as misfit:
            return misfit
        return None

    def schemaless_column(self, array: pa.Array, batch: pa.RecordBatch) -> pa.Array:
        """A column without a schema, changed; ``RecordError`` names the row that cannot be."""
        return changed_rows(array, lambda value, row: self.schemaless(value, row, batch))

    @abstractmethod
    def structured(
        self, array: pa.Array, schema: Schema, batch: pa.RecordBatch
    ) -> tuple[pa.Array, Schema]:
        """The column changed, and its new schema; raises ``Misfit`` if any row cannot be."""

    @abstractmethod
    def schemaless(self, value: Any, row: int, batch: pa.RecordBatch) -> Any:
        """One parsed value changed; raises ``Misfit``. It is None for a null row."""


def refuse_nulls(array: pa.Array, message: str) -> None:
    """``Misfit`` if a row is null."""
    if array.null_count:
        raise Misfit(message)


def without_schema(array: pa.Array, schema: Schema) -> bool:
    """Whether these are nulls that no schema belongs to: tombstones, as a converter reads them."""
    return array.null_count == len(array) and not schema.optional
