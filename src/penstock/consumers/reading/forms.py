"""Records or columns: a consumer hands out one or the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from penstock.consumers.errors import InvalidConsumer
from penstock.consumers.reading.progress import Batch, Fetched, Offsets
from penstock.consumers.reading.reading import Plan, Reading

if TYPE_CHECKING:
    from penstock.consumers.reading.columns import ColumnBatch

Some_co = TypeVar("Some_co", bound=Fetched, covariant=True)


class Source(Protocol[Some_co]):
    """Where records come from."""

    @property
    def finished(self) -> bool:
        """Whether there is nothing more to come."""

    def take(self, patience: float) -> Some_co:
        """What is there; waits up to ``patience`` seconds for a first record."""

    def extend(self, starts: Offsets) -> None:
        """Read these partitions, too."""

    def fetch_anew(self, offsets: Offsets) -> None:
        """Begin again at ``offsets``, which is where it has come to."""

    def close(self) -> None:
        """Leave nothing behind."""


class Forms:
    """Begins to read when it is known in which form."""

    def __init__(self, plan: Plan | None = None, *, shared: Source[Batch] | None = None) -> None:
        """Either a ``plan``, or what is ``shared`` and has begun."""
        self._plan = plan
        self._records = shared
        self._columns: Source[ColumnBatch] | None = None

    def records(self) -> Source[Batch]:
        """One by one; InvalidConsumer if they are handed out in columns."""
        if self._columns is not None:
            raise InvalidConsumer(
                "this consumer returns Arrow batches: make another one for records"
            )
        if self._records is None:
            self._records = Reading(self._planned())
        return self._records

    def _planned(self) -> Plan:
        assert self._plan is not None  # noqa: S101 (what is shared has begun)
        return self._plan

    def columns(self, wanted: Mapping[str, Any]) -> Source[ColumnBatch]:
        """In columns; InvalidConsumer if they are handed out one by one, or shared."""
        if self._records is not None:
            other = "records" if self._plan else "share=True"
            raise InvalidConsumer(f"Arrow batches cannot be combined with {other}: make another")
        if self._columns is None:
            # Here, since it takes long to import.
            from penstock.consumers.reading.columns import ColumnReading

            self._columns = ColumnReading(self._planned(), **wanted)
        return self._columns

    def close(self) -> None:
        """Leave nothing behind."""
        for source in (self._records, self._columns):
            if source is not None:
                source.close()
