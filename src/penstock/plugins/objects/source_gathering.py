"""Small batches in a row as one: many small objects should not cost a batch each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pyarrow as pa

from penstock.sdk.batches import SourceBatch
from penstock.sdk.offsets import ChangedOffset, canonical

ENOUGH_ROWS: Final = 5000
ENOUGH_BYTES: Final = 1 << 20
MOST_BATCHES: Final = 500


class Gathering(Iterator[SourceBatch]):
    """The same records and offsets, in fewer batches. What comes before an error is handed on."""

    def __init__(self, batches: Iterator[SourceBatch]) -> None:
        self._batches = batches
        self._ahead: SourceBatch | None = None
        self._error: Exception | None = None

    def __next__(self) -> SourceBatch:
        gathered = [self._first()]
        while _is_little(gathered):
            following = self._following()
            if following is None:
                break
            if not _fits(gathered, following):
                self._ahead = following
                break
            gathered.append(following)
        return _as_one(gathered)

    def _first(self) -> SourceBatch:
        if self._ahead is not None:
            batch, self._ahead = self._ahead, None
            return batch
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        return next(self._batches)

    def _following(self) -> SourceBatch | None:
        try:
            return next(self._batches)
        except StopIteration:
            return None
        except Exception as error:  # noqa: BLE001 (raised by the next call)
            self._error = error
            return None


def _is_little(gathered: list[SourceBatch]) -> bool:
    rows = sum(batch.records.num_rows for batch in gathered)
    size = sum(batch.records.nbytes for batch in gathered)
    return rows < ENOUGH_ROWS and size < ENOUGH_BYTES and len(gathered) < MOST_BATCHES


def _fits(gathered: list[SourceBatch], following: SourceBatch) -> bool:
    """Records of two schemas or topics do not make one batch; offsets alone fit to any."""
    if not following.records.num_rows:
        return True
    before = next((each.records for each in gathered if each.records.num_rows), None)
    if before is None:
        return True
    same_schema = before.schema.equals(following.records.schema, check_metadata=True)
    return same_schema and _topic(before) == _topic(following.records)


def _topic(records: pa.RecordBatch) -> object:
    return records.column("topic")[0].as_py()


def _as_one(gathered: list[SourceBatch]) -> SourceBatch:
    if len(gathered) == 1:
        return gathered[0]
    offsets: dict[str, ChangedOffset] = {}
    for batch in gathered:
        offsets |= {canonical(change[0]): change for change in batch.offsets}
    full = [batch.records for batch in gathered if batch.records.num_rows]
    records = pa.concat_batches(full) if full else gathered[0].records
    return SourceBatch(records, list(offsets.values()))
