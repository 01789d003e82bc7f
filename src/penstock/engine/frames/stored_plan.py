"""A plan is stored before its turn runs: in the metadata of the group's own committed offsets.

So it is read together with the positions, and is written by a transaction that a replaced worker
cannot commit. Altering an offset keeps its metadata, but the note has the offset that it is about.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from penstock.engine.frames.ranges import TurnPlan
from penstock.kafka.groups import Committed
from penstock.kafka.range_reader import Range
from penstock.kafka.topics import PartitionId

MARK = "penstock-turn"


def noted(plan: TurnPlan) -> dict[PartitionId, Committed]:
    """What is committed before the turn runs: its beginning, with the plan."""
    return {(r.topic, r.partition): (r.start, _note(plan, r)) for r in plan.ranges}


def _note(plan: TurnPlan, wanted: Range) -> str:
    told = {"id": plan.id, "epoch": plan.epoch, "config": plan.config}
    told |= {"start": wanted.start, "stop": wanted.stop}
    if plan.letters:
        told["letters"] = plan.letters
    return json.dumps({MARK: told}, separators=(",", ":"))


def stored_plan(committed: Mapping[PartitionId, Committed], target: str) -> TurnPlan | None:
    """The plan that was stored with these positions; None if there is none. Turns before it are
    complete: there is at most one plan.

    It is without partitions whose offsets were altered since, and without those of which
    ``committed`` says nothing: then it is only part of the plan that was stored.
    """
    notes = {p: (offset, note) for p, (offset, text) in committed.items() if (note := _read(text))}
    try:
        held = {p: note for p, (offset, note) in notes.items() if int(note["start"]) == offset}
        latest = max(held.values(), key=lambda note: int(note["epoch"]), default=None)
        if latest is None:
            return None
        ranges = tuple(
            sorted(
                Range(*p, int(note["start"]), int(note["stop"]))
                for p, note in held.items()
                if note["id"] == latest["id"]
            )
        )
        letters, known = str(latest.get("letters", "")), str(latest["id"])
        plan = TurnPlan(int(latest["epoch"]), ranges, target, str(latest["config"]), letters)
    except (KeyError, TypeError, ValueError):
        return None
    return plan if plan.id == known else replace(plan, part_of=known)


def _read(text: str) -> dict[str, Any] | None:
    """The note in the metadata of a commit; None for another's, or none."""
    try:
        found = json.loads(text).get(MARK) if text else None
    except (ValueError, AttributeError):
        return None
    return found if isinstance(found, dict) else None
