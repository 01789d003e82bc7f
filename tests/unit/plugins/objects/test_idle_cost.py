"""What an idle look asks of the store, after many objects were finished."""

from __future__ import annotations

import time

import obstore
import pytest
from obstore.store import MemoryStore

from penstock.plugins.objects import source_connector
from penstock.plugins.objects.source_connector import ObjectSourceConnector
from penstock.plugins.objects.source_listing import Listing
from penstock.plugins.objects.source_marks import Mark
from penstock.plugins.objects.source_offsets import mark_partition
from penstock.plugins.objects.source_plan import ORDER
from penstock.plugins.objects.store import Storage
from penstock.plugins.objects.stored_objects import ListedObject
from penstock.sdk.offsets import OffsetReader

CONFIG = {"local.folder": "/", "topic": "t", "list.interval.ms": "1"}


class Watched:
    """A connector on objects in memory, all of them finished."""

    def __init__(self, finished: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.store = MemoryStore()
        self.listing = Listing(Storage(self.store, "/"))
        monkeypatch.setattr(source_connector, "Listing", lambda _: self.listing)
        self.connector = ObjectSourceConnector()
        self.connector.start(CONFIG)
        self.connector.task_configs(2)
        self.offsets = self._finish([f"{number:09}" for number in range(finished)])

    def _finish(self, keys: list[str]) -> OffsetReader:
        marks: dict[int, Mark] = {}
        horizon = int(time.time() * 1000) + 3_600_000
        for key in keys:
            obstore.put(self.store, key, b"1\n")
            number = self.connector._number_of(key)
            assert number is not None
            marks.setdefault(number, Mark(horizon=horizon)).finish(ListedObject(key))
        return OffsetReader((mark_partition("/", n), mark.offset()) for n, mark in marks.items())

    def look(self) -> tuple[bool, int]:
        """The answer, and how many pages were asked for."""
        before = self.listing.requests
        time.sleep(0.002)
        return self.connector.look(self.offsets), self.listing.requests - before


@pytest.mark.parametrize(
    "finished", [1_000, 10_000, pytest.param(100_000, marks=pytest.mark.heavy)]
)
def test_it_does_not_grow(finished: int, monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched(finished, monkeypatch)
    while watched.look()[1] > 2:
        pass  # the whole bucket, once
    assert [watched.look() for _ in range(5)] == [(False, 2)] * 5
    assert len(watched.offsets) == 64
    assert sum(len(str(entry)) for entry in watched.offsets) < 64 * 200

    obstore.put(watched.store, "999999999", b"1\n")
    found, requests = watched.look()
    assert (found, requests <= 2) == (True, True)
    plan = watched.connector.plan(watched.offsets, [0, 1])
    assert plan is not None
    assert sum(len(each[ORDER]) for each in plan) < 200
