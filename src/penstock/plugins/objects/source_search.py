"""Finds what is to be read, for all tasks at once.

The end of the bucket, behind the marks, is listed often; that takes a request or two, however much
was read before. The whole bucket is listed when the connector starts and then at an interval, a few
pages at a time: what appeared late, below the marks, is found by that. Both fill one backlog of
bounded size, which the tasks of the next turn share.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from penstock.plugins.objects.stored_objects import ListedObject

if TYPE_CHECKING:
    from penstock.plugins.objects.source_offsets import Committed

Page = Sequence[ListedObject]

MOST_OBJECTS: Final = 4000
MOST_KEY_BYTES: Final = 400_000
"""So much is handed to the tasks of one turn, at the most."""
SECONDS: Final = 1.0
"""For which one call goes on listing; the next one continues."""
CROWDED_PAUSE: Final = 5.0
"""Seconds between two listings of the whole bucket, at the least, while something waits for one."""
NEVER: Final = float("inf")

NumberOf = Callable[[str], int | None]


class Listing(Protocol):
    """Lists what there is."""

    def pages(self, after: str = "") -> Iterator[Page]:
        """All objects with keys greater than ``after``, in the order of keys, a page at a time."""


class Rhythm(NamedTuple):
    """How often to list, in seconds."""

    end: float
    whole: float
    look_back: float


@dataclass
class Scan:
    """One listing of the whole bucket, which may pause."""

    began: float
    first: bool
    """Whether nothing was marked when it began: then each virtual bucket is read from its start."""
    after: str = ""
    left_out: set[int] = field(default_factory=set)
    """Virtual buckets that were held, and that it has not noted completely."""
    gaps: set[int] = field(default_factory=set)
    """These, and those of which objects had to wait."""


class Noted(NamedTuple):
    """An object of the backlog."""

    object: ListedObject
    since: float | None
    """When the listing began that has found all of its virtual bucket up to here, if one has."""


class Search:
    """The backlog, and where the listings stand. For one thread."""

    def __init__(
        self,
        listing: Listing,
        number_of: NumberOf,
        rhythm: Rhythm,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._listing = listing
        self._number_of = number_of
        self._rhythm = rhythm
        self._clock = clock
        self._backlog: dict[str, Noted] = {}
        self._key_bytes = 0
        self._floor = ""
        self._end_due = self._whole_due = 0.0
        self._scan: Scan | None = None
        self.held: frozenset[int] = frozenset()
        """Virtual buckets that are left out."""
        self._crowded: frozenset[int] = frozenset()
        self._gaps: set[int] = set()
        """Those of the last listing of the whole bucket, and of listings of its end since."""
        self.complete: Scan | None = None
        """The last listing of the whole bucket, until it has been used."""

    def backlog(self, committed: Committed) -> list[Noted]:
        """In the order of keys, without what is finished by now."""
        done = [k for k, noted in self._backlog.items() if self._is_done(committed, noted.object)]
        for key in done:
            self._drop(key)
        return sorted(self._backlog.values())

    def has_reached(self, key: str) -> bool:
        """Whether everything up to this key was listed since the search began."""
        return self._scan is None or key <= self._scan.after

    def has_noted_all_before(self, key: str) -> bool:
        """Whether nothing of its virtual bucket that comes before was left out either."""
        gaps = self._gaps if self._scan is None else self._scan.gaps
        return self.has_reached(key) and self._number_of(key) not in gaps

    def hold(self, numbers: frozenset[int]) -> None:
        """Leave out these virtual buckets until told otherwise."""
        if self.held - numbers:
            self._begin_anew()
        for key in [k for k in self._backlog if self._number_of(k) in numbers]:
            self._drop(key)
        if self._scan is not None:
            self._scan.left_out |= numbers
            self._scan.gaps |= numbers
        self._gaps |= numbers
        self.held = numbers

    def go_on(self, committed: Committed) -> None:
        """List for a second at the most, as far as it is time and there is room."""
        self._mind_the_crowded(committed.crowded())
        until = time.monotonic() + SECONDS
        scan = self._scan_under_way(committed)
        if committed.lowest_mark() and not (scan and scan.first) and self._clock() >= self._end_due:
            self._list_end(committed, until)
        if scan is not None:
            self._list_whole(scan, committed, until)

    def _begin_anew(self) -> None:
        self._floor, self._end_due, self._whole_due = "", 0.0, 0.0

    def _mind_the_crowded(self, crowded: frozenset[int]) -> None:
        if self._crowded - crowded:
            self._floor, self._end_due = "", 0.0
        if crowded and self._scan is None:
            soon = max(CROWDED_PAUSE, self._rhythm.look_back / 4)
            self._whole_due = min(self._whole_due, self._clock() + soon)
        self._crowded = crowded

    # The end of the bucket.

    def _list_end(self, committed: Committed, until: float) -> None:
        last = max(self._floor, committed.lowest_mark())
        for page in self._listing.pages(last):
            if self._take(page, committed, None) < len(page) or time.monotonic() >= until:
                return  # there is more, which the next call lists
            if page:
                self._floor, last = last, page[-1].key
        self._end_due = self._clock() + self._rhythm.end

    # The whole bucket.

    def _scan_under_way(self, committed: Committed) -> Scan | None:
        now = self._clock()
        if self._scan is None and now >= self._whole_due:
            first = not committed.marks
            self._scan = Scan(now, first, left_out=set(self.held), gaps=set(self.held))
            self._whole_due = NEVER  # unless something asks for another one meanwhile
        return self._scan

    def _list_whole(self, scan: Scan, committed: Committed, until: float) -> None:
        for page in self._listing.pages(scan.after):
            taken = self._take(page, committed, scan.began if scan.first else None)
            if taken:
                scan.after = page[taken - 1].key
            if taken < len(page) or time.monotonic() >= until:
                return
        self._scan, self.complete, self._gaps = None, scan, scan.gaps
        if self._whole_due == NEVER and self._rhythm.whole:
            self._whole_due = self._clock() + self._rhythm.whole

    # The backlog.

    def _take(self, page: Page, committed: Committed, since: float | None) -> int:
        """Note what is to be read; how much of the page was considered before it was full."""
        for index, each in enumerate(page):
            if len(self._backlog) >= MOST_OBJECTS or self._key_bytes >= MOST_KEY_BYTES:
                return index
            if each.key not in self._backlog and not self._is_done(committed, each):
                self._note(each, committed, since)
        return len(page)

    def _is_done(self, committed: Committed, each: ListedObject) -> bool:
        number = self._number_of(each.key)
        return number is None or committed.has_finished(number, each)

    def _note(self, each: ListedObject, committed: Committed, since: float | None) -> None:
        number = self._number_of(each.key)
        if number is None or number in self.held:
            return
        if committed.waits(number, each.key):
            self._gaps.add(number)
            if self._scan is not None:
                self._scan.gaps.add(number)
            return
        self._backlog[each.key] = Noted(each, since)
        self._key_bytes += len(each.key)

    def _drop(self, key: str) -> None:
        del self._backlog[key]
        self._key_bytes -= len(key)
