"""How much is stored and handed over for many objects: counted, through whole turns."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from object_sources import Objects
from penstock.plugins.objects.source_marks import VIRTUAL_BUCKETS
from penstock.plugins.objects.source_plan import ORDER
from penstock.plugins.objects.source_search import MOST_OBJECTS
from penstock.sdk import SourceConnector
from penstock.sdk.batches import SourceBatch
from penstock.sdk.testing import PlayedSource

AN_OBJECT = 100
"""Bytes of an order for one object, at the most: its key, size, time and etag."""
A_MARK = 150
"""Bytes of a mark that remembers no object singly, and of its partition."""


class Counted(PlayedSource):
    """Counts offset records, and the bytes of orders."""

    def __init__(self, source: Objects, tasks: int) -> None:
        super().__init__(source, tasks)
        self.stored = self.forgotten = 0
        self.orders: list[int] = []

    def task_configs(self, connector: SourceConnector) -> list[dict[str, str]]:
        configs = super().task_configs(connector)
        self.orders.append(sum(len(config[ORDER]) for config in configs))
        return configs

    def commit(self, batches: Iterable[SourceBatch]) -> Any:
        changed = super().commit(batches)
        self.stored += sum(offset is not None for _, offset in changed)
        self.forgotten += sum(offset is None for _, offset in changed)
        return changed


def written(folder: Path, numbers: range, age: float) -> None:
    stamp = time.time() - age
    for number in numbers:
        file = folder / f"{number:07}.jsonl"
        file.write_text(f'{{"n":{number}}}\n')
        os.utime(file, (stamp, stamp))


@pytest.mark.parametrize("objects", [100, 350])
def test_many_small_objects(objects: int, tmp_path: Path) -> None:
    """A record for each virtual bucket and batch, none for an object, and nothing to forget."""
    written(tmp_path, range(objects), age=7200)
    worker = Counted(Objects({"local.folder": str(tmp_path)}), tasks=2)
    while worker.look():
        worker.turn()
    assert sorted(worker.delivered) == list(range(objects))
    assert worker.stored <= VIRTUAL_BUCKETS * (2 + objects // 500)
    assert worker.forgotten == 0
    assert len(worker.offsets) <= VIRTUAL_BUCKETS
    assert len(json.dumps(list(worker.offsets.values()))) <= VIRTUAL_BUCKETS * (
        A_MARK + len(str(tmp_path))
    )
    assert max(worker.orders) <= AN_OBJECT * min(objects, MOST_OBJECTS)


def test_an_order_has_what_is_new_and_not_what_is_finished(tmp_path: Path) -> None:
    written(tmp_path, range(200), age=7200)
    worker = Counted(Objects({"local.folder": str(tmp_path)}), tasks=2)
    worker.turn()
    before = worker.stored
    written(tmp_path, range(200, 203), age=0)
    worker.turn()
    assert sorted(worker.delivered) == list(range(203))
    assert worker.orders[-1] <= 3 * AN_OBJECT + 2 * VIRTUAL_BUCKETS * 20
    assert worker.stored - before <= 3 + VIRTUAL_BUCKETS


def test_a_backlog_of_any_length_is_handed_over_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.plugins.objects.source_search.MOST_OBJECTS", 50)
    written(tmp_path, range(250), age=7200)
    worker = Counted(Objects({"local.folder": str(tmp_path)}), tasks=2)
    while worker.look():
        worker.turn()
    assert sorted(worker.delivered) == list(range(250))
    assert len(worker.orders) >= 5
    assert max(worker.orders) <= 50 * AN_OBJECT + 2 * VIRTUAL_BUCKETS * 20
