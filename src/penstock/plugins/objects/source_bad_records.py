"""Records of an object that cannot be read, each in its place among those that can."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterator
from typing import Final

from penstock.plugins.objects.source_offsets import ObjectEntry
from penstock.sdk.errors import RecordError
from penstock.sdk.transformers.transformer import TransformedColumns

log = logging.getLogger(__name__)

MOST_BYTES: Final = 512 * 1024
"""Of a record that is longer, a letter has only the beginning: brokers take 1 MB."""


class BadRecords:
    """Those of one object that were met and not handed on yet."""

    def __init__(self, entry: ObjectEntry) -> None:
        self._entry = entry
        self._waiting: deque[tuple[RecordError, bytes]] = deque()

    def take(self, error: RecordError, data: bytes) -> None:
        """Another one, for a transformer."""
        log.error("%s (%d bytes). It is passed over, by errors.tolerance=all.", error, len(data))
        self._waiting.append((error, data[:MOST_BYTES]))

    def before(self, found: TransformedColumns) -> Iterator[RecordError]:
        """Those that come before the last of these records."""
        while self._waiting and self._waiting[0][0].row < found.position:
            yield self._next()

    def rest(self) -> Iterator[RecordError]:
        """All that are left."""
        while self._waiting:
            yield self._next()

    def _next(self) -> RecordError:
        """With the offset behind it, unless records before it are yet to be delivered."""
        error, data = self._waiting.popleft()
        if error.row == self._entry.record_count + 1:
            self._entry.increment_record_count()
        return self._entry.bad_record(str(error), data)
