"""Records or columns: a consumer hands out one or the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from penstock.consumers.errors import InvalidConsumer
from penstock.consumers.progress import Batch, Fetched, Places
from penstock.consumers.reading import Reading

if TYPE_CHECKING:
    from penstock.consumers.columns import ColumnBatch

Some_co = TypeVar("Some_co", bound=Fetched, covariant=True)


class Source(Protocol[Some_co]):
    """Where records come from."""

    @property
    def finished(self) -> bool:
        """Whether there is nothing more to come."""

    def take(self, patience: float) -> Some_co:
        """What is there; waits up to ``patience`` seconds for a first record."""

    def extend(self, starts: Places) -> None:
        """Read these partitions, too."""

    def close(self) -> None:
        """Leave nothing behind."""


class Forms:
    """Begins to read when it is known in which form."""

    def __init__(self, reading: Mapping[str, Any], *, shared: Source[Batch] | None = None) -> None:
        """``reading`` is what a reading is told, in either form; what is ``shared`` has begun."""
        self._reading = reading
        self._shared = shared is not None
        self._records = shared
        self._columns: Source[ColumnBatch] | None = None

    def records(self) -> Source[Batch]:
        """One by one; InvalidConsumer if they are handed out in columns."""
        if self._columns is not None:
            raise InvalidConsumer("this consumer hands out Arrow batches: make another for records")
        if self._records is None:
            self._records = Reading(**self._reading)
        return self._records

    def columns(self, wanted: Mapping[str, Any]) -> Source[ColumnBatch]:
        """In columns; InvalidConsumer if they are handed out one by one, or shared."""
        if self._records is not None:
            other = "share=True" if self._shared else "records"
            raise InvalidConsumer(f"Arrow batches do not go together with {other}: make another")
        if self._columns is None:
            # Here, since it takes long to import.
            from penstock.consumers.columns import ColumnReading

            self._columns = ColumnReading(**self._reading, **wanted)
        return self._columns

    def close(self) -> None:
        """Leave nothing behind."""
        for source in (self._records, self._columns):
            if source is not None:
                source.close()
