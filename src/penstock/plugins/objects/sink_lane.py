"""The objects of one topic-partition: one that grows, and those that are complete."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from penstock.plugins.objects.sink_config import SinkSettings
from penstock.plugins.objects.sink_keyed import MOST_BYTES, MOST_RECORDS, KeyedObjects
from penstock.plugins.objects.sink_object import FormatMaker, GrowingObject
from penstock.plugins.objects.sink_plan import MOST_PLANNED, Begun, Plan, Planned
from penstock.sdk.tasks import Assignment

log = logging.getLogger(__name__)

Growing = GrowingObject | KeyedObjects


@dataclass
class Sealed:
    """A complete object on its way."""

    content: Growing
    told: bool
    """Whether its plan is part of what was returned to be committed."""
    upload: Future[None] | None = None


class Lane:
    """Cuts the records of a partition into objects, as the settings or a former plan say."""

    def __init__(
        self,
        assignment: Assignment,
        plan: Plan,
        settings: SinkSettings,
        make: FormatMaker,
        now: Callable[[], int],
    ) -> None:
        self._where = assignment.topic, assignment.partition
        self._settings, self._make, self._now = settings, make, now
        self._layout = plan.layout
        # An offset that was altered since then leaves nothing of the plan.
        self._redo = deque(each for each in plan.planned if each.start >= assignment.offset)
        self._begun = plan.begun
        self._limits = _limits(settings)
        self.growing: Growing | None = None
        self.sealed: deque[Sealed] = deque()

    def put(self, batch: pa.RecordBatch) -> None:
        """Add records to the object that grows; complete it, and begin others, as often as due."""
        while batch.num_rows:
            growing = self.growing
            if growing is not None and not self._continues(growing, batch):
                self.seal()
                continue
            if growing is None:
                growing = self.growing = self._begin(batch)
            rows = self._room(growing, batch)
            growing.write(batch.slice(0, rows))
            batch = batch.slice(rows)
            if self._full(growing):
                self.seal()

    def _continues(self, growing: Growing, batch: pa.RecordBatch) -> bool:
        first = batch.column("offset")[0].as_py()
        return growing.takes(batch) and (growing.fixed is None or first < growing.fixed)

    def _begin(self, batch: pa.RecordBatch) -> Growing:
        first = batch.column("offset")[0].as_py()
        redo = self._redone(first)
        begun = self._begun_at(first, batch) if redo is None else Begun(redo.start, 0, redo.time)
        name, end = self._settings.name, redo.end if redo else None
        if not name.keyed:
            plain = name.render(*self._where, begun.start, begun.time)
            return GrowingObject(begun, plain, self._make, batch, end)

        def naming(key: str, start: int) -> str:
            return name.render(*self._where, start, begun.time, key)

        return KeyedObjects(begun, naming, self._make, end, latest=name.latest)

    def _redone(self, first: int) -> Planned | None:
        """The plan that this record belongs to; those before it have no records left."""
        while self._redo and self._redo[0].end <= first:
            self._redo.popleft()
        if not self._redo:
            return None
        if self._redo[0].start > first:
            log.info("offsets were altered: planned objects of %s-%d are dropped", *self._where)
            self._redo.clear()
            return None
        return self._redo.popleft()

    def _begun_at(self, first: int, batch: pa.RecordBatch) -> Begun:
        known, self._begun = self._begun, None
        if known is not None and known.start == first:
            return known
        now = self._now()
        event = batch.column("timestamp")[0].as_py() if self._settings.by_event else None
        return Begun(first, now, now if event is None else event)

    def _room(self, growing: Growing, batch: pa.RecordBatch) -> int:
        """How many of these records belong to the object."""
        if growing.fixed is not None:
            offsets = batch.column("offset").to_numpy()
            return int(offsets.searchsorted(growing.fixed))
        rows: int = batch.num_rows
        most_records, most_bytes = self._limits
        if most_records:
            rows = min(rows, most_records - growing.records)
        if most_bytes:
            left = most_bytes - growing.bytes
            rows = min(rows, max(1, left * batch.num_rows // max(1, batch.nbytes)))
        return rows

    def _full(self, growing: Growing) -> bool:
        if growing.fixed is not None:
            return growing.end >= growing.fixed
        most_records, most_bytes = self._limits
        many = bool(most_records) and growing.records >= most_records
        return many or bool(most_bytes and growing.bytes >= most_bytes)

    def seal_if_old(self) -> None:
        """Complete the object that grows if it has its age."""
        growing, most = self.growing, self._settings.max_age
        if growing is None or growing.fixed is not None or not most:
            return
        if self._now() - growing.begun.since >= most:
            self.seal()

    def seal(self) -> None:
        """Complete the object that grows."""
        growing, self.growing = self.growing, None
        if growing is not None:
            growing.seal()
            self.sealed.append(Sealed(growing, told=growing.fixed is not None))

    def due(self) -> list[Sealed]:
        """Objects whose plan is committed, and that are not written yet.

        Where one replaces another, in their order.
        """
        latest = self._settings.name.latest
        sealed = list(self.sealed)[:1] if latest else self.sealed
        return [each for each in sealed if each.told and each.upload is None]

    def written(self) -> int | None:
        """The offset after the last object that is written, with all before it; None if none is.

        An object whose upload has failed raises its error, and is due again.
        """
        safe = None
        while self.sealed and (upload := self.sealed[0].upload) and upload.done():
            head = self.sealed[0]
            head.upload = None
            upload.result()
            safe = head.content.end
            head.content.close()
            self.sealed.popleft()
        return safe

    def tell(self) -> str:
        """The plan to commit now: what is in it is due at the next flush."""
        planned = []
        for each in list(self.sealed)[:MOST_PLANNED]:
            each.told = True
            planned.append(each.content.planned)
        growing, begun = self.growing, self._begun
        if growing is not None and growing.fixed is not None:
            planned.append(Planned(growing.begun.start, growing.fixed, growing.begun.time))
        elif growing is not None:
            begun = growing.begun
        return Plan(self._layout, [*planned, *self._redo], begun).text()

    def close(self) -> None:
        """Free everything."""
        contents: list[Any] = [each.content for each in self.sealed]
        for content in [*contents, self.growing]:
            if content is not None:
                content.close()


def _limits(settings: SinkSettings) -> tuple[int, int]:
    """The most records and bytes of an object, or of a range with objects by key; 0 is no limit."""
    most = settings.max_records, settings.max_bytes
    if not settings.name.keyed:
        return most
    if settings.name.latest:
        return MOST_RECORDS, MOST_BYTES
    return min(most[0] or MOST_RECORDS, MOST_RECORDS), min(most[1] or MOST_BYTES, MOST_BYTES)
