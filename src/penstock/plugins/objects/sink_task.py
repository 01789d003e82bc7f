"""Writes the records of each topic-partition as objects, one after another."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Final

import pyarrow as pa

from penstock.plugins.objects.sink_config import SinkSettings
from penstock.plugins.objects.sink_formats import format_maker
from penstock.plugins.objects.sink_lane import Lane
from penstock.plugins.objects.sink_plan import read_plan
from penstock.plugins.objects.store import open_storage
from penstock.sdk.tasks import Assignment, Assignments, Flushed, PartitionId, SinkTask

UPLOADS: Final = 4
"""Uploads at a time."""
PATIENCE: Final = 0.5
"""Seconds that a flush waits for uploads: most are done by then, and the lease stays responsive."""
MOST_SEALED: Final = 16
"""Complete objects beyond which a flush waits for as long as the uploads take."""
MOST_WAITING: Final = 512
SLOW_DOWN: Final = 0.6
"""Seconds that a put takes while so many objects wait: the worker then gives less at a time."""
STOP_SECONDS: Final = 4.0


class ObjectSinkTask(SinkTask):
    """Every record is in one object, and its offset is committed once the object is written.

    An object that is complete is committed as a plan first, and written when the plan is: if the
    lease ends in between, the next one writes the same records under the same name.
    """

    def start(self, config: Mapping[str, str]) -> None:
        self._storage = open_storage(config)
        self._settings = SinkSettings.of(config)
        self._layout = _layout(f"{self._storage} {self._settings.layout()}")
        self._make = format_maker(self._settings)
        self._lanes: dict[PartitionId, Lane] = {}
        self._uploads = ThreadPoolExecutor(UPLOADS, thread_name_prefix="upload")

    def now(self) -> int:
        """Milliseconds since the epoch."""
        return time.time_ns() // 1_000_000

    def open(self, assignments: Assignments) -> None:
        for each in assignments:
            self._lanes[each.topic, each.partition] = self._lane(each)

    def _lane(self, assignment: Assignment) -> Lane:
        plan = read_plan(assignment.metadata, self._layout)
        return Lane(assignment, plan, self._settings, self._make, self.now)

    def put(self, batch: pa.RecordBatch) -> None:
        self._lanes[self.position_of(batch)].put(batch)
        if sum(len(lane.sealed) for lane in self._lanes.values()) > MOST_WAITING:
            time.sleep(SLOW_DOWN)

    def flush(self) -> Flushed:
        self._upload()
        safe: dict[PartitionId, int] = {}
        for where, lane in self._lanes.items():
            lane.seal_if_old() if self.may_hold else lane.seal()
            written = lane.written()
            if written is not None:
                safe[where] = written
        return Flushed({where: lane.tell() for where, lane in self._lanes.items()}, safe)

    def _upload(self) -> None:
        """Begin what is due, and wait for a moment."""
        for lane in self._lanes.values():
            for each in lane.due():
                each.upload = self._uploads.submit(each.content.upload, self._storage)
        running = self._running()
        many = len(running) > MOST_SEALED or not self.may_hold
        wait(running, None if many else PATIENCE)

    def _running(self) -> list[Future[None]]:
        sealed = (each for lane in self._lanes.values() for each in lane.sealed)
        return [each.upload for each in sealed if each.upload is not None]

    def stop(self) -> None:
        if not hasattr(self, "_uploads"):
            return
        self._uploads.shutdown(wait=False, cancel_futures=True)
        _, left = wait(self._running(), STOP_SECONDS)
        if not left:
            for lane in self._lanes.values():
                lane.close()


def _layout(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
