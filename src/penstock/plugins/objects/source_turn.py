"""What there is to do at one moment, by what is committed and what the listings have found."""

from __future__ import annotations

from collections import Counter

from penstock.plugins.objects.source_offsets import Committed
from penstock.plugins.objects.source_search import NumberOf, Search
from penstock.plugins.objects.stored_objects import ListedObject


class Turn:
    """The objects to read, and how far the horizons of virtual buckets can advance."""

    def __init__(
        self, committed: Committed, search: Search, number_of: NumberOf, look_back: float
    ) -> None:
        self._committed = committed
        self._number_of = number_of
        self._look_back = look_back
        self._noted = {noted.object.key: noted for noted in search.backlog(committed)}
        self.found = self._found(search)
        """The objects with the numbers of their virtual buckets, in the order of keys."""
        self.advance = self._advance(search)

    def __bool__(self) -> bool:
        return bool(self.found or self.advance)

    def _found(self, search: Search) -> list[tuple[int, ListedObject]]:
        begun = self._committed.begun
        objects = {key: e.listed for key, e in begun.items() if self._is_safe(key, search)}
        objects |= {key: noted.object for key, noted in self._noted.items()}
        numbered = ((self._number_of(key), objects[key]) for key in sorted(objects))
        return [(n, each) for n, each in numbered if n is not None and n not in search.held]

    def _is_safe(self, key: str, search: Search) -> bool:
        """An object that was begun may be far ahead of the listings.

        Finished now, it would take its mark with it, past all that has not been listed yet.
        """
        number = self._number_of(key)
        mark = None if number is None else self._committed.marks.get(number)
        if mark is not None and (key <= mark.key or mark.crowded):
            return key <= mark.key
        return key in self._noted or search.has_noted_all_before(key)

    def left(self) -> dict[int, int]:
        """How many bytes there are in each virtual bucket with something to do."""
        sizes = Counter(dict.fromkeys(self.advance, 0))
        for number, each in self.found:
            sizes[number] += each.size
        return dict(sizes)

    def begin(self) -> dict[int, int]:
        """The horizons of virtual buckets that have no mark yet."""
        found: dict[int, int] = {}
        for number, each in self.found:
            noted = self._noted.get(each.key)
            known = None if noted is None else noted.since
            found.setdefault(number, 0 if known is None else self._horizon(known))
        return {number: at for number, at in found.items() if number not in self._committed.marks}

    def _advance(self, search: Search) -> dict[int, int]:
        """Only where less is then remembered singly: anything else would be an empty turn."""
        scan = search.complete
        if scan is None:
            return {}
        horizon, apart = self._horizon(scan.began), scan.left_out | search.held
        return {
            number: horizon
            for number, mark in self._committed.marks.items()
            if number not in apart and mark.would_shrink(horizon)
        }

    def _horizon(self, began: float) -> int:
        return int((began - self._look_back) * 1000)
