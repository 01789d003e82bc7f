"""What was finished, in a few bytes: a mark for each of 64 virtual buckets.

Every object belongs to one virtual bucket, by its name alone. The objects of a virtual bucket are
read in the order of their keys, by one task at a time, so that one key says how far it was read.
That is not enough for an object that appears late, with a key below the mark. So a mark also has a
horizon: what is below the mark and was modified up to the horizon is finished. What was finished
and is younger is remembered singly, by its fingerprint, until a listing of the whole bucket lets
the horizon advance past it.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterator, Mapping
from typing import Any, Final

from penstock.plugins.objects.stored_objects import ListedObject
from penstock.sdk.errors import OffsetError

VIRTUAL_BUCKETS: Final = 64

MARK: Final = "mark"
HORIZON: Final = "horizon"
RECENT: Final = "recent"
SELECTED: Final = "selected"

CROWDED: Final = 2048
"""With so many remembered singly, a virtual bucket waits for its horizon to advance."""

_ONE: Final = struct.Struct(">8sI")
_SECOND: Final = 1000


class Mark:
    """How far one virtual bucket was read. For one thread."""

    def __init__(
        self, key: str = "", horizon: int = 0, recent: bytes = b"", selected: str = ""
    ) -> None:
        self.key = key
        self.horizon = horizon
        self.selected = selected
        """Among which objects it was read (``source_selection``): of others it says nothing."""
        self._packed = bytearray(recent)
        self._recent = {fingerprint for fingerprint, _ in _ONE.iter_unpack(recent)}

    @classmethod
    def of(cls, offset: Mapping[str, Any]) -> Mark:
        """From the offset store; OffsetError if that is not a mark."""
        key, horizon = offset.get(MARK), offset.get(HORIZON, 0)
        recent, selected = offset.get(RECENT, ""), offset.get(SELECTED, "")
        try:
            packed = base64.b64decode(recent, validate=True)
            if (
                isinstance(key, str)
                and isinstance(horizon, int)
                and isinstance(selected, str)
                and len(packed) % _ONE.size == 0
            ):
                return cls(key, horizon, packed, selected)
        except (ValueError, TypeError):
            pass
        raise OffsetError(
            f"The offset of a virtual bucket needs a text '{MARK}' and a number '{HORIZON}'; "
            f"'{RECENT}' and '{SELECTED}' must be as they were listed. Null has all its objects "
            "read again."
        )

    def offset(self) -> dict[str, Any]:
        """For the offset store."""
        recent = base64.b64encode(self._packed).decode()
        more = {RECENT: recent, SELECTED: self.selected}
        told = {name: text for name, text in more.items() if text}
        return {MARK: self.key, HORIZON: self.horizon, **told}

    def has_finished(self, found: ListedObject) -> bool:
        """Whether this version of the object was read to its end."""
        if found.key <= self.key and found.modified <= self.horizon:
            return True
        return bool(self._recent) and found.fingerprint in self._recent

    def finish(self, found: ListedObject) -> None:
        """It was read to its end, and so was all of this virtual bucket that is before it."""
        self.key = max(self.key, found.key)
        # The time of a download has whole seconds: it may be up to one younger than it says.
        if found.modified + _SECOND > self.horizon and found.fingerprint not in self._recent:
            self._recent.add(found.fingerprint)
            self._packed += _ONE.pack(found.fingerprint, _seconds(found.modified))

    def advance(self, horizon: int) -> None:
        """All that is below the mark and not younger than ``horizon`` is finished."""
        if horizon > self.horizon:
            kept = b"".join(_ONE.pack(*each) for each in self._younger(horizon))
            self.__init__(self.key, horizon, kept, self.selected)  # type: ignore[misc]  # all of it changes

    def would_shrink(self, horizon: int) -> bool:
        """Whether ``advance`` would let it remember less."""
        return horizon > self.horizon and sum(1 for _ in self._younger(horizon)) < len(self._recent)

    def _younger(self, horizon: int) -> Iterator[tuple[bytes, int]]:
        for fingerprint, seconds in _ONE.iter_unpack(self._packed):
            if (seconds + 1) * _SECOND > horizon:
                yield fingerprint, seconds

    @property
    def crowded(self) -> bool:
        """Whether it remembers so many singly that it should get no more for now."""
        return len(self._recent) >= CROWDED


def _seconds(milliseconds: int) -> int:
    return min(max(milliseconds // _SECOND, 0), (1 << 32) - 1)
