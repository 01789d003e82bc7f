"""Lists a bucket in the order of its keys, a page at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import obstore
from obstore.store import LocalStore

from penstock.plugins.objects.source_search import Page
from penstock.plugins.objects.store import Storage, plain_errors
from penstock.plugins.objects.stored_objects import ListedObject
from penstock.sdk.errors import UserError

PAGE: Final = 1000
"""As many as S3 answers at a time."""


class Listing:
    """The objects whose names begin with the prefix of ``storage``; empty objects are left out."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self.requests = 0
        """How many pages were asked for so far."""

    def pages(self, after: str = "") -> Iterator[Page]:
        """All objects with keys greater than ``after``; the store is asked for one page at a time.

        RetriableError, or UserError if a person has to act.
        """
        prefix = self._storage.prefix
        # The store knows prefixes of whole folders alone, so a listing begins just before ours.
        start = max(after, prefix[:-1])
        for page in self._listed(prefix.rpartition("/")[0] or None, start or None):
            found = [ListedObject.of(meta) for meta in page if meta["path"].startswith(prefix)]
            yield [each for each in found if each.key > after and each.size]
            if page and page[-1]["path"] > prefix and not page[-1]["path"].startswith(prefix):
                return

    def _listed(self, folder: str | None, start: str | None) -> Iterator[Sequence[Any]]:
        store, doing = self._storage.store, _doing(self._storage)
        try:
            with plain_errors(self._storage, doing):
                listed = obstore.list(store, prefix=folder, offset=start, chunk_size=PAGE)
                pages = _sorted(listed) if isinstance(store, LocalStore) else iter(listed)
                while (page := self._counted(lambda: next(pages, None))) is not None:
                    yield page
        except FileNotFoundError:
            raise UserError(f"{doing}: there is no {self._storage.bucket}. Create it.") from None

    def _counted(self, ask: Callable[[], Sequence[Any] | None]) -> Sequence[Any] | None:
        self.requests += 1
        return ask()


def _sorted(pages: Iterable[Sequence[Any]]) -> Iterator[Sequence[Any]]:
    """A folder is listed in no order."""
    found = sorted((meta for page in pages for meta in page), key=lambda meta: meta["path"])
    return (found[first : first + PAGE] for first in range(0, len(found), PAGE))


def _doing(storage: Storage) -> str:
    return f"Listing objects below {storage.prefix}" if storage.prefix else "Listing objects"
