"""A plan in the metadata of committed offsets."""

from __future__ import annotations

from dataclasses import replace

from penstock.engine.frames.ranges import TurnPlan
from penstock.engine.frames.stored_plan import noted, stored_plan
from penstock.kafka.groups import Committed
from penstock.kafka.range_reader import Range
from penstock.kafka.topics import PartitionId

PLAN = TurnPlan(7, (Range("a", 0, 10, 20), Range("b", 1, 0, 5)), "/out", "hash")
OTHERS: dict[PartitionId, Committed] = {("a", 1): (3, ""), ("a", 2): (4, "of another maker")}


def test_a_plan_is_found_with_the_positions_that_it_begins_at() -> None:
    assert stored_plan({**OTHERS, **noted(PLAN)}, "/out") == PLAN
    assert stored_plan(OTHERS, "/out") is None


def test_a_plan_says_which_letters_were_written_with_it() -> None:
    plan = replace(PLAN, letters="some")
    assert stored_plan(noted(plan), "/out") == plan
    assert plan.id == PLAN.id


def test_of_a_plan_what_was_altered_or_is_not_known_is_missing() -> None:
    """It still says whether it has happened, under the id that it was stored with."""
    notes = noted(PLAN)
    offset, text = notes["a", 0]
    for known in ({**notes, ("a", 0): (offset - 1, text)}, {("b", 1): notes["b", 1]}):
        found = stored_plan(known, "/out")
        assert found is not None
        assert (found.ranges, found.id, found.part_of) == (PLAN.ranges[1:], PLAN.id, PLAN.id)
    altered = {p: (offset + 1, text) for p, (offset, text) in notes.items()}
    assert stored_plan(altered, "/out") is None


def test_notes_of_an_earlier_plan_do_not_count() -> None:
    """A partition that was altered keeps its metadata, and is read in a later turn."""
    later = TurnPlan(8, (Range("b", 1, 5, 9),), "/out", "hash")
    assert stored_plan({**noted(PLAN), **noted(later)}, "/out") == later


def test_what_is_no_note_is_no_plan() -> None:
    for text in ("", "{", "[]", '{"penstock-turn": 1}', '{"penstock-turn": {"id": "x"}}'):
        assert stored_plan({("a", 0): (1, text)}, "/out") is None
