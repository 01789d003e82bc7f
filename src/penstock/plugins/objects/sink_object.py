"""One object as it grows: in memory while it is small, then in a temporary file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from tempfile import SpooledTemporaryFile
from typing import IO, Any, Final

import obstore
import pyarrow as pa

from penstock.plugins.objects.sink_formats import ObjectFormat
from penstock.plugins.objects.sink_plan import Begun, Planned
from penstock.plugins.objects.store import Storage, plain_errors
from penstock.sdk.errors import UserError

IN_MEMORY: Final = 256 * 1024
PART: Final = 8 * 1024 * 1024
"""Objects up to this size are uploaded at once, larger ones in parts of it."""

FormatMaker = Callable[[IO[bytes], pa.RecordBatch], ObjectFormat]


class GrowingObject:
    """The records of one object, from the first to the last."""

    def __init__(
        self, begun: Begun, name: str, make: FormatMaker, first: pa.RecordBatch, fixed: int | None
    ) -> None:
        self.begun = begun
        self.name = name
        self.fixed = fixed
        """Where it must end, if a former lease has planned it."""
        self.end = begun.start
        self.records = 0
        self.bytes = 0
        # Closed by ``close``, after the upload: a ``with`` block would be too short.
        self._file: IO[bytes] = SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 (see above)
        try:
            self._format: ObjectFormat | None = make(self._file, first)
        except Exception:
            self._file.close()
            raise

    @property
    def planned(self) -> Planned:
        """What it has, once it is complete."""
        return Planned(self.begun.start, self.end, self.begun.time)

    @property
    def _open(self) -> ObjectFormat:
        assert self._format is not None  # noqa: S101 (nothing is added to a complete object)
        return self._format

    def takes(self, batch: pa.RecordBatch) -> bool:
        """Whether records of that schema fit into it."""
        return self._open.takes(batch)

    def write(self, batch: pa.RecordBatch) -> None:
        """Add the records."""
        self.bytes += self._open.write(batch)
        self.records += batch.num_rows
        self.end = batch.column("offset")[-1].as_py() + 1

    def seal(self) -> None:
        """It is complete."""
        if self._format is not None:
            self._format.finish()
            self._format = None  # what compresses takes memory

    def upload(self, storage: Storage) -> None:
        """Write it; it is there as a whole or not at all. May be repeated after an error."""
        size = self._file.seek(0, 2)
        self._file.seek(0)
        name = storage.prefix + self.name
        to: Any = {
            "store": storage.store,
            "path": name,
            "attributes": {**storage.attributes} or None,
        }
        try:
            with plain_errors(storage, f"writing {name}"):
                if size <= PART:
                    obstore.put(file=self._file.read(), use_multipart=False, **to)
                else:
                    obstore.put(file=self._parts(), chunk_size=PART, max_concurrency=2, **to)
        except (FileNotFoundError, ValueError) as error:
            raise UserError(f"{name} cannot be written to {storage.bucket}: {error}") from None

    def _parts(self) -> Iterator[bytes]:
        while part := self._file.read(PART):
            yield part

    def close(self) -> None:
        """Free its memory or file."""
        with suppress(Exception):  # what is left unfinished is never read
            self.seal()
        self._file.close()
