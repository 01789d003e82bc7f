"""Iterators over records as they come: dry for a while, and then not.

``AbstractSourceTask.get_iterator`` may return

- an object with ``has_next`` and ``__next__`` (``SourceIterator``): ``has_next`` may say False many
  times and True later;
- a plain iterator or generator: ``None`` from it says that there is nothing just now. One that has
  ended stays ended, as Python has it, and nothing more is read in this lease. Where a generator is
  one pass over the source, wrap it: ``restarting(self.one_pass)``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from penstock.sdk.batches import SourceBatch
from penstock.sdk.records import SourceRecord

Item = SourceRecord | SourceBatch
AnItem = TypeVar("AnItem", bound=Item)


class SourceIterator(ABC, Iterator[Item]):
    """Records one by one, or whole Arrow batches."""

    @abstractmethod
    def has_next(self) -> bool:
        """Whether there is something now. May wait for storage, not for data to be written."""


class restarting(Iterator[AnItem | None], Generic[AnItem]):  # noqa: N801 (used as a function)
    """Makes a new pass whenever the last one has ended; dry in between."""

    def __init__(self, make_pass: Callable[[], Iterator[AnItem | None]]) -> None:
        self._make_pass = make_pass
        self._pass: Iterator[AnItem | None] | None = None

    def __next__(self) -> AnItem | None:
        if self._pass is None:
            self._pass = self._make_pass()
        try:
            return next(self._pass)
        except StopIteration:
            self._pass = None
            return None


def next_item(iterator: Iterator[Item | None]) -> Item | None:
    """The next record or batch; None if there is none just now."""
    has_next = getattr(iterator, "has_next", None)
    if has_next is not None and not has_next():
        return None
    return next(iterator, None)


def rows_of(item: Item) -> int:
    """How many records it is."""
    return item.records.num_rows if isinstance(item, SourceBatch) else 1


def size_of(item: Item) -> int:
    """How much memory it takes, about: of a record with any other value little is known."""
    if isinstance(item, SourceBatch):
        return int(item.records.nbytes)
    return len(item.value) if isinstance(item.value, bytes | str) else 0
