"""native.start.key: reading begins behind a name, also after a restart."""

from __future__ import annotations

from pathlib import Path

import pytest

from object_sources import Objects
from penstock.sdk.testing import PlayedSource


@pytest.fixture
def objects(tmp_path: Path) -> Objects:
    made = Objects({"local.folder": str(tmp_path)}, **{"native.start.key": "in/2"})
    for number, key in enumerate(["a/9", "in/1", "in/2", "in/20", "in/3"]):
        made.put(key, [number])
    return made


def test_the_object_of_that_name_is_not_read_and_the_next_one_is(objects: Objects) -> None:
    worker = PlayedSource(objects)
    worker.turn()
    assert worker.delivered == [3, 4]
    assert not worker.look()


def test_a_restart_begins_behind_it_again(objects: Objects) -> None:
    worker = PlayedSource(objects, tasks=2)
    worker.turn()
    objects.put("in/1", [10])
    objects.put("in/2", [11])
    objects.put("b/1", [12])
    assert not worker.look()
    objects.put("in/21", [13])
    assert worker.look()
    worker.turn()
    worker.turn()
    assert sorted(worker.delivered) == [3, 4, 13]


def test_a_smaller_one_lets_objects_before_it_be_read(objects: Objects) -> None:
    worker = PlayedSource(objects)
    worker.turn()
    objects.configure(native_start_key="in/1")
    assert worker.look()
    worker.turn()
    assert worker.delivered == [3, 4, 2]
    assert not worker.look()


def test_killed_in_the_middle_it_goes_on_where_it_was(objects: Objects) -> None:
    worker = PlayedSource(objects)
    worker.turn(polls=1, killed=True)
    assert worker.delivered == []
    worker.turn()
    assert worker.delivered == [3, 4]
