"""What a task of a turn commits."""

from __future__ import annotations

from typing import Any

from penstock.engine.frames.frame_lease import FrameLease
from penstock.kafka.range_reader import Range
from penstock.sdk.tasks import Assignment


def lease(**fields: Any) -> FrameLease:
    made = object.__new__(FrameLease)
    for name, value in {"uncommitted_starts": frozenset(), "ranges": (), **fields}.items():
        object.__setattr__(made, name, value)
    return made


def test_the_ends_of_ranges_are_committed_with_their_metadata() -> None:
    found = lease(
        assignments=(Assignment("a", 0, 5, "kept"), Assignment("a", 1, 7, "")),
        ranges=(Range("a", 0, 5, 9),),
    )
    assert found.ends == {("a", 0): (9, "kept")}
    assert found.offsets == 4


def test_a_start_that_could_be_another_next_time_is_committed_without_a_range() -> None:
    found = lease(
        assignments=(Assignment("a", 0, 5, ""), Assignment("a", 1, 7, "")),
        uncommitted_starts=frozenset({("a", 1)}),
    )
    assert found.ends == {("a", 1): (7, "")}


def test_a_task_without_either_has_nothing_to_do() -> None:
    assert lease(assignments=(Assignment("a", 0, 5, ""),)).ends == {}
