"""The stage of aggregates over a table: adds what was kept of each row before it changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from penstock.sql.persistent.added_columns import with_columns
from penstock.sql.persistent.state_stages import StateAccess
from penstock.sql.planning.table_group_text import ROW_COLUMNS, ROW_KEY

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class _AddRows:
    access: StateAccess

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        state, mark = self.access.begin()
        for batch in batches:
            rows = batch.column(ROW_KEY).to_pylist()
            keys = [None if key is None else mark.row_key(key) for key in rows]
            added = [pa.array(keys, pa.binary()), pa.array(state.found(keys), pa.binary())]
            names = [*batch.schema.names, *ROW_COLUMNS]
            yield pa.RecordBatch.from_arrays([*batch.columns, *added], names=names)


def with_rows(last: DataFrame, access: StateAccess) -> DataFrame:
    """Rows of a table with ``ROW_COLUMNS``."""
    return with_columns(last, _AddRows(access), ROW_COLUMNS)
