"""Parquet: the chosen fields as columns, some thousand records a row group."""

from __future__ import annotations

from typing import IO, Final

import pyarrow as pa
import pyarrow.parquet as pq

from penstock.plugins.objects.sink_columns import chosen_columns
from penstock.plugins.objects.sink_compression import KeptOpen
from penstock.plugins.objects.sink_config import SinkSettings
from penstock.plugins.objects.sink_formats import ObjectFormat

GROUP_BYTES: Final = 8 * 1024 * 1024
"""What is held in memory before it is written as a row group."""


class ParquetFormat(ObjectFormat):
    """Its columns are compressed, not the file; another schema needs another object."""

    def __init__(self, file: IO[bytes], settings: SinkSettings, first: pa.RecordBatch) -> None:
        super().__init__(file, settings)
        self._schema = chosen_columns(first.slice(0, 0), settings).schema
        self._writer = pq.ParquetWriter(
            KeptOpen(file), self._schema, compression=settings.compression.upper()
        )
        self._waiting: list[pa.Table] = []
        self._bytes = 0

    def takes(self, batch: pa.RecordBatch) -> bool:
        schema = chosen_columns(batch.slice(0, 0), self._settings).schema
        return bool(schema.equals(self._schema, check_metadata=True))

    def write(self, batch: pa.RecordBatch) -> int:
        table = chosen_columns(batch, self._settings)
        self._waiting.append(table)
        self._bytes += table.nbytes
        if self._bytes >= GROUP_BYTES:
            self._write_group()
        return int(table.nbytes)

    def _write_group(self) -> None:
        if self._waiting:
            self._writer.write_table(pa.concat_tables(self._waiting))
        self._waiting, self._bytes = [], 0

    def finish(self) -> None:
        self._write_group()
        self._writer.close()
