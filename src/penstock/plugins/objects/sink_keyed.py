"""Objects by key: a range of offsets that becomes one object for each of its keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from io import BytesIO
from tempfile import SpooledTemporaryFile
from typing import IO, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.plugins.objects.keys_in_names import keys_in_names
from penstock.plugins.objects.sink_object import IN_MEMORY, FormatMaker, GrowingObject
from penstock.plugins.objects.sink_plan import Begun, Planned
from penstock.plugins.objects.store import Storage

MOST_RECORDS: Final = 20_000
MOST_BYTES: Final = 16 * 1024 * 1024
"""Of a range, which is in memory as a whole when its objects are made."""

Naming = Callable[[str, int], str]
"""The name of an object: its key as in names, and its first offset."""


class KeyedObjects:
    """As ``GrowingObject``, for all keys of a range. Its objects are written one after another.

    Written again, it has the same objects under the same names: all of them follow from the range.
    """

    def __init__(
        self, begun: Begun, naming: Naming, make: FormatMaker, fixed: int | None, *, latest: bool
    ) -> None:
        self.begun = begun
        self.fixed = fixed
        self.end = begun.start
        self.records = 0
        self.bytes = 0
        self._naming, self._make, self._latest = naming, make, latest
        self._schema: pa.Schema | None = None
        # Closed by ``close``, after the upload: a ``with`` block would be too short.
        self._file: IO[bytes] = SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 (see above)
        self._writer: pa.RecordBatchStreamWriter | None = None

    @property
    def planned(self) -> Planned:
        """What it has, once it is complete."""
        return Planned(self.begun.start, self.end, self.begun.time)

    def takes(self, batch: pa.RecordBatch) -> bool:
        """Whether records of that schema fit into it."""
        return self._schema is None or self._schema.equals(batch.schema, check_metadata=True)

    def write(self, batch: pa.RecordBatch) -> None:
        """Add the records."""
        if self._writer is None:
            # The format refuses here what it cannot write, while the task can set it aside.
            self._make(BytesIO(), batch)
            self._schema = batch.schema
            self._writer = pa.ipc.new_stream(pa.PythonFile(self._file, "w"), batch.schema)
        self._writer.write_batch(batch)
        self.bytes += batch.nbytes
        self.records += batch.num_rows
        self.end = batch.column("offset")[-1].as_py() + 1

    def seal(self) -> None:
        """It is complete."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def upload(self, storage: Storage) -> None:
        """Write all objects. May be repeated after an error."""
        for part, rows in self._by_key():
            first = rows.column("offset")[0].as_py()
            begun = Begun(first, self.begun.since, self.begun.time)
            one = GrowingObject(begun, self._naming(part, first), self._make, rows, None)
            try:
                one.write(rows)
                one.seal()
                one.upload(storage)
            finally:
                one.close()

    def _by_key(self) -> Iterator[tuple[str, pa.RecordBatch]]:
        """The records of each key, in their order; only the last of each, if that is wanted."""
        if not self.records:
            return  # all that came were refused
        self._file.seek(0)
        table = pa.ipc.open_stream(pa.PythonFile(self._file, "r")).read_all()
        rows = table.combine_chunks().to_batches()[0]
        keys = pc.dictionary_encode(keys_in_names(rows.column("key")))
        codes = keys.indices.to_numpy()
        order = np.argsort(codes, kind="stable")
        ends = np.cumsum(np.bincount(codes, minlength=len(keys.dictionary)))
        for part, end, start in zip(keys.dictionary, ends, [0, *ends[:-1]], strict=True):
            yield str(part), rows.take(pa.array(order[end - 1 if self._latest else start : end]))

    def close(self) -> None:
        """Free its memory or file."""
        with suppress(Exception):  # what is left unfinished is never read
            self.seal()
        self._file.close()
