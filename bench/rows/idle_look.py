"""What an idle look of the object source costs, after ever more objects were finished."""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import obstore

from bench.bed import Bed
from bench.results import OURS, RowResult, Target
from bench.rounds import interleaved
from bench.row import Row
from bench.s3_server import S3Server
from penstock.plugins.objects.source_connector import ObjectSourceConnector
from penstock.plugins.objects.source_listing import PAGE
from penstock.plugins.objects.source_marks import Mark
from penstock.plugins.objects.source_offsets import mark_partition
from penstock.plugins.objects.source_plan import ORDER
from penstock.plugins.objects.source_search import Page, Search
from penstock.plugins.objects.store import open_storage
from penstock.plugins.objects.stored_objects import ListedObject
from penstock.sdk.offsets import OffsetReader

LOOKS = 50
ON_S3 = 10_000
GROWTH = 1.25
"""How much more a look may cost after ten times as many objects."""
BASE = {"topic": "t", "list.interval.ms": "1", "rescan.interval.ms": "0"}


@dataclass(frozen=True)
class Memory:
    """A store in memory, as a listing: so many objects, made as they are asked for."""

    objects: int

    def pages(self, after: str = "") -> Iterator[Page]:
        """A page at a time, of what is behind a key."""
        first = int(after) + 1 if after else 0
        for start in range(first, self.objects, PAGE):
            end = min(start + PAGE, self.objects)
            yield [ListedObject(_key(number), 1, 0, "e") for number in range(start, end)]
        yield []


class Watched:
    """A connector that has finished all objects of a store."""

    def __init__(self, config: dict[str, str], objects: int, listing: object = None) -> None:
        self._connector = ObjectSourceConnector()
        self._connector.start({**BASE, **config})
        self._connector.task_configs(2)
        if listing is not None:
            number_of, rhythm = self._connector._number_of, self._connector._rhythm
            self._connector._search = Search(listing, number_of, rhythm)  # type: ignore[arg-type]  # behind the same interface
        self.offsets = self._finished(objects)
        while self._connector._search._scan is not None or self._connector._search.complete is None:
            self.look()

    def _finished(self, objects: int) -> OffsetReader:
        marks: dict[int, Mark] = {}
        horizon = int((time.time() + 3600) * 1000)
        for number in range(objects):
            virtual = self._connector._number_of(_key(number)) or 0
            marks.setdefault(virtual, Mark(horizon=horizon)).finish(ListedObject(_key(number)))
        bucket = self._connector._storage.bucket
        return OffsetReader((mark_partition(bucket, n), mark.offset()) for n, mark in marks.items())

    def look(self) -> float:
        """The seconds of one, which must find nothing."""
        time.sleep(0.002)
        began = time.perf_counter()
        found = self._connector.look(self.offsets)
        took = time.perf_counter() - began
        if found:
            raise RuntimeError("an idle look has found something")
        return took

    def order_bytes(self) -> int:
        """How much the leases of an idle turn are told."""
        plan = self._connector.plan(self.offsets, [0, 1]) or []
        return sum(len(each[ORDER]) for each in plan)

    def offset_bytes(self) -> int:
        """How much is stored about the finished objects."""
        return len(json.dumps(list(self.offsets)))


def idle_look(bed: Bed) -> RowResult:
    """Ten thousand on S3; a hundred thousand and a million in memory."""
    sizes = [max(1000, int(size * bed.scale.factor)) for size in (1_000_000, 100_000)]
    on_s3 = max(100, int(ON_S3 * bed.scale.factor))
    with S3Server(bed.folder / bed.name("s3") / "buckets") as s3:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        config = _bucket(bed, s3, on_s3)
        watched = {f"{OURS}, {size:,} in memory": _in_memory(bed, size) for size in sizes}
        watched[f"{OURS}, {on_s3:,} on S3"] = Watched(config, on_s3)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        figures = interleaved(
            bed.scale.rounds, {side: _looks(each) for side, each in watched.items()}, bed.say
        )
        told = [f"{side}: {_told(each)}" for side, each in watched.items()]
    _, smaller, _ = watched
    return RowResult(
        unit="milliseconds per idle look",
        sides=figures,
        targets=[Target(smaller, at_most=GROWTH)],
        notes=[
            f"Finished before: as many objects as each side says. The process has grown by "
            f"{grown // 1024:,} MB for all of them.",
            *told,
        ],
    )


ROWS = (Row("objects-idle-look", "An idle look after many finished objects", idle_look),)


def _told(watched: Watched) -> str:
    return (
        f"{len(watched.offsets)} offsets of {watched.offset_bytes():,} bytes in all, and orders of "
        f"{watched.order_bytes():,} bytes to two tasks."
    )


def _looks(watched: Watched) -> Callable[[], float]:
    def measure() -> float:
        return sorted(watched.look() for _ in range(LOOKS))[LOOKS // 2] * 1000

    return measure


def _in_memory(bed: Bed, size: int) -> Watched:
    bed.say(f"{size:,} objects in memory")
    return Watched({"local.folder": "/"}, size, Memory(size))


def _bucket(bed: Bed, s3: S3Server, size: int) -> dict[str, str]:
    bed.say(f"{size:,} objects on S3")
    bucket = bed.name("idle")
    (s3.folder / bucket).mkdir()
    config = s3.place(bucket)
    store = open_storage(config).store
    for number in range(size):
        obstore.put(store, _key(number), b"1\n")
    return config


def _key(number: int) -> str:
    return f"{number:09}"
