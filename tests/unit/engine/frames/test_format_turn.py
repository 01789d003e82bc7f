"""A turn that ends in a format: what it commits, and when, if records cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
import pytest

from frame_leases import plain_lease
from penstock.engine.frames import format_turn
from penstock.engine.frames.errors import UnreadableError
from penstock.engine.frames.format_turn import FormatOrder, FormatTurn
from penstock.engine.frames.frame_lease import FrameLease, FrameReport
from penstock.engine.frames.ranges import TurnPlan
from penstock.engine.frames.sifted import NOTHING, Sifted
from penstock.engine.frames.stored_plan import stored_plan
from penstock.engine.frames.turn import Outcome
from penstock.engine.frames.turn_records import Reading
from penstock.engine.lease.dead_letters import Letter
from penstock.engine.lease.lease import End, Tolerance
from penstock.kafka.errors import LeaseLost
from penstock.kafka.groups import Committed
from penstock.kafka.range_reader import Range
from penstock.kafka.topics import PartitionId
from penstock.sdk.batches import record_batch
from penstock.sdk.errors import RetriableError
from penstock.sdk.frames import FormatEnd
from penstock.sdk.tasks import Assignment

PLAN = TurnPlan(7, (Range("t", 0, 0, 10), Range("t", 1, 0, 10)), "/out", "config")
LETTERS = Tolerance(all_errors=True, dead_letter_topic="letters")
LEASE = plain_lease(ranges=PLAN.ranges)


def refused(*places: tuple[int, int], cuts: Mapping[PartitionId, int] | None = None) -> Sifted:
    records = record_batch(
        pa.array(["t"] * len(places)).dictionary_encode(),
        pa.array([b"bad %d" % offset for _, offset in places], pa.binary()),
        partition=pa.array([partition for partition, _ in places], pa.int32()),
        timestamp=pa.array([1] * len(places), pa.int64()),
        offset=pa.array([offset for _, offset in places], pa.int64()),
    )
    return Sifted(records, ("not JSON",) * len(places), cuts or {})


def within(plan: TurnPlan, found: Sifted) -> set[tuple[int, int]]:
    ends = plan.ends
    rows = found.positions.to_pylist()
    places = [(row["partition"], row["offset"]) for row in rows]
    return {(p, offset) for p, offset in places if offset < ends.get(("t", p), 0)}


@dataclass
class World:
    """What stays when a worker is killed; its records and its target."""

    unreadable: Sifted = NOTHING
    offsets: dict[PartitionId, Committed] = field(default_factory=dict)
    letters: list[bytes | None] = field(default_factory=list)
    written: list[tuple[TurnPlan, Sifted]] = field(default_factory=list)
    looks: int = 0
    dies_before: str = ""
    """What is no longer done: store, write or end."""

    def happened(self, plan: TurnPlan) -> bool:
        return plan.id in {each.id for each, _ in self.written}

    def following(self, plan: TurnPlan) -> TurnPlan:
        return plan

    def write(self, plan: TurnPlan, frame: Callable[[], Any], confirm: object) -> Outcome:
        known = frame()
        if within(plan, self.unreadable) - within(plan, known):
            raise UnreadableError("a record cannot be read")
        self._die("write")
        self.written.append((plan, known))
        return Outcome.WRITTEN

    def commit(
        self, offsets: Mapping[PartitionId, Committed], letters: Sequence[Letter] = ()
    ) -> None:
        self._die("store" if any(text for _, text in offsets.values()) else "end")
        self.offsets |= offsets
        self.letters += [letter[1] for letter in letters]

    def keep(self) -> None:
        """The producer."""

    def _die(self, doing: str) -> None:
        if self.dies_before == doing:
            self.dies_before = ""
            raise LeaseLost("killed")

    def look(self, plan: TurnPlan, *, all_errors: bool) -> Sifted:
        self.looks += 1
        return self.unreadable

    def frame(self, plan: TurnPlan, found: Sifted) -> Sifted:
        """Played: what is written is known by what was left out."""
        return found

    def append(self, spark: object, end: object, frame: Callable[[], Any]) -> None:
        self.written.append((PLAN, frame()))


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    made = World()
    monkeypatch.setattr(format_turn, "TurnCommits", lambda _: made)
    monkeypatch.setattr(format_turn, "TurnRecords", lambda *_: made)
    monkeypatch.setattr(
        format_turn, "target_of", lambda _, end, **__: made if end.format == "parquet" else None
    )
    monkeypatch.setattr(format_turn, "append", made.append)
    return made


def turn(
    world: World,
    *,
    tolerance: Tolerance = LETTERS,
    plan: TurnPlan = PLAN,
    kind: str = "parquet",
    lease: FrameLease = LEASE,
) -> FrameReport:
    """What a worker does next: it finds what an earlier one has stored."""
    stored = stored_plan(world.offsets, plan.target)
    reading = Reading(lambda records, _: records, lambda records, _: records)
    order = FormatOrder(
        replace(lease, tolerance=tolerance),
        FormatEnd(kind, plan.target),
        stored or plan,
        stored=stored is not None,
        config="config",
        reading=reading,
    )
    [report] = FormatTurn(None, order, lambda: True).run().reports  # type: ignore[arg-type]  # no Spark
    assert isinstance(report, FrameReport)
    return report


def ends(world: World) -> list[int]:
    return [world.offsets.get(("t", partition), (0, ""))[0] for partition in (0, 1)]


def test_without_unreadable_records_nothing_is_looked_for(world: World) -> None:
    assert turn(world, tolerance=Tolerance()).end is End.DONE
    assert (ends(world), world.looks, len(world.written)) == ([10, 10], 0, 1)


def test_tolerated_records_are_letters_before_anything_is_written(world: World) -> None:
    world.unreadable = refused((0, 3), (1, 5))
    world.dies_before = "write"
    assert turn(world).end is End.LOST
    assert (world.letters, world.written, ends(world)) == ([b"bad 3", b"bad 5"], [], [0, 0])


@pytest.mark.parametrize("step", ["store", "write", "end", ""])
def test_letters_are_there_once_and_records_too_whatever_is_killed(world: World, step: str) -> None:
    world.unreadable, world.dies_before = refused((0, 3), (1, 5)), step
    first = turn(world)
    last = turn(world) if step else first
    assert (last.end, ends(world)) == (End.DONE, [10, 10])
    assert world.letters == [b"bad 3", b"bad 5"]
    [(plan, left_out)] = world.written
    assert within(plan, left_out) == {(0, 3), (1, 5)}
    assert last.dead_letters == (0 if step == "end" else 2)


def test_what_is_refused_only_by_the_second_worker_becomes_a_letter_as_well(world: World) -> None:
    """A schema that was deleted in the registry meanwhile, for one. Letters may be repeated."""
    world.unreadable, world.dies_before = refused((0, 3)), "write"
    assert turn(world).end is End.LOST
    world.unreadable = refused((0, 3), (1, 5))
    assert turn(world).end is End.DONE
    assert world.letters == [b"bad 3", b"bad 3", b"bad 5"]


def test_what_could_be_read_when_it_was_looked_for_is_never_left_out(world: World) -> None:
    class Later(World):
        def look(self, plan: TurnPlan, *, all_errors: bool) -> Sifted:
            return NOTHING

    world.unreadable = refused((0, 3))
    world.look = Later.look.__get__(world)  # type: ignore[method-assign]  # for this one
    with pytest.raises(RetriableError, match="cannot be read now"):
        turn(world)
    assert (world.written, ends(world)) == ([], [0, 0])


def test_without_tolerance_what_is_before_the_record_is_committed_and_the_task_fails(
    world: World,
) -> None:
    world.unreadable = refused((0, 3))
    report = turn(world, tolerance=Tolerance())
    assert report.end is End.FAILED
    assert "record t-0 at offset 3: not JSON" in report.trace
    assert "alter its offset of t-0 to 4" in report.trace
    assert ends(world) == [3, 10]
    assert report.sink_positions == {("t", 0): (3, ""), ("t", 1): (10, "")}
    [(plan, _)] = world.written
    assert plan.ends == {("t", 0): 3, ("t", 1): 10}
    assert world.letters == []


def test_if_the_record_is_the_first_of_its_partition_the_others_are_still_committed(
    world: World,
) -> None:
    world.unreadable = refused((0, 0))
    assert turn(world, tolerance=Tolerance()).end is End.FAILED
    assert ends(world) == [0, 10]
    world.unreadable = refused((0, 0), (1, 10))
    again = replace(PLAN, ranges=(Range("t", 0, 0, 10), Range("t", 1, 10, 20)), epoch=8)
    report = turn(world, tolerance=Tolerance(), plan=again)
    assert (report.end, report.sink_positions) == (End.FAILED, {})
    assert ends(world) == [0, 10]


@pytest.mark.parametrize("step", ["store", "write", "end"])
@pytest.mark.parametrize("first", [0, 1])
def test_a_turn_that_was_cut_and_killed_is_written_once(
    world: World, step: str, first: int
) -> None:
    world.unreadable = refused((first, 0), (1 - first, 3))
    world.dies_before = step
    reports = [turn(world, tolerance=Tolerance(), plan=remaining(world)) for _ in range(3)]
    assert reports[-1].end is End.FAILED
    assert ends(world) == ([0, 3] if first == 0 else [3, 0])
    assert [plan.ends for plan, _ in world.written] == [{("t", 1 - first): 3}]


def remaining(world: World) -> TurnPlan:
    starts = ends(world)
    return replace(
        PLAN, ranges=tuple(Range("t", p, starts[p], 10) for p in (0, 1)), epoch=8 + sum(starts)
    )


@pytest.mark.parametrize("step", ["write", "end"])
@pytest.mark.parametrize("how", ["altered", "not known"])
def test_of_a_turn_that_was_killed_a_partition_is_read_from_elsewhere(
    world: World, step: str, how: str
) -> None:
    """Its offset was altered, or its topic is gone: the others are written once all the same."""
    world.dies_before = step
    assert turn(world).end is End.LOST
    if how == "altered":
        world.offsets["t", 0] = (4, world.offsets["t", 0][1])
    else:
        del world.offsets["t", 0]
    start = world.offsets.get(("t", 0), (0, ""))[0]
    assert turn(world).end is End.DONE
    assert ends(world) == [start, 10 if step == "end" else 0]
    rest = (Range("t", 0, start, 10), Range("t", 1, ends(world)[1], 10))
    again = replace(PLAN, epoch=8, ranges=tuple(each for each in rest if each.count))
    assert turn(world, plan=again).end is End.DONE
    assert ends(world) == [10, 10]
    written = [r for plan, _ in world.written for r in plan.ranges if r.partition == 1]
    assert written == [Range("t", 1, 0, 10)]


def test_more_than_a_turn_can_take_is_left_for_the_next(world: World) -> None:
    world.unreadable = refused((0, 3), (0, 4), cuts={("t", 0): 6})
    report = turn(world)
    assert (report.end, report.bad_rows, ends(world)) == (End.DONE, 2, [6, 10])


def test_a_stored_turn_that_has_become_too_much_is_planned_again(world: World) -> None:
    world.unreadable, world.dies_before = refused((0, 3)), "write"
    turn(world)
    world.unreadable = refused((0, 3), (0, 4), cuts={("t", 0): 6})
    assert turn(world).records == 0
    assert stored_plan(world.offsets, "/out") is None
    assert (turn(world).end, ends(world)) == (End.DONE, [6, 10])


def test_where_it_is_appended_letters_are_committed_with_the_offsets(world: World) -> None:
    world.unreadable, world.dies_before = refused((0, 3)), "end"
    assert turn(world, kind="jdbc").end is End.LOST
    assert world.letters == []
    assert turn(world, kind="jdbc").end is End.DONE
    assert (world.letters, ends(world)) == ([b"bad 3"], [10, 10])


def test_nothing_is_appended_behind_a_record_that_fails_the_task(world: World) -> None:
    world.unreadable = refused((0, 3))
    assert turn(world, tolerance=Tolerance(), kind="jdbc").end is End.FAILED
    assert (ends(world), len(world.written), world.looks) == ([3, 10], 1, 1)


def test_errors_that_are_tolerated_without_letters_are_counted(world: World) -> None:
    world.unreadable = refused((0, 3))
    report = turn(world, tolerance=Tolerance(all_errors=True))
    assert (report.end, report.bad_rows, report.dead_letters) == (End.DONE, 1, 0)
    assert (report.tally.skipped, report.produced, world.letters) == (1, 19, [])


def unsaid(*places: tuple[int, int]) -> FrameLease:
    """Of partitions whose starts could be others next time, such as the ends of their topics."""
    assignments = tuple(Assignment("t", partition, offset, "kept") for partition, offset in places)
    starts = frozenset(("t", partition) for partition, _ in places)
    return replace(LEASE, assignments=assignments, uncommitted_starts=starts)


def test_a_start_is_committed_although_there_is_nothing_to_read(world: World) -> None:
    report = turn(world, plan=replace(PLAN, ranges=()), lease=unsaid((0, 5), (1, 6)))
    starts = {("t", 0): (5, "kept"), ("t", 1): (6, "kept")}
    assert (report.end, report.sink_positions, world.offsets) == (End.DONE, starts, starts)
    assert (world.written, world.looks) == ([], 0)


@pytest.mark.parametrize("kind", ["parquet", "jdbc"])
def test_starts_are_committed_before_anything_can_fail(world: World, kind: str) -> None:
    """A worker that comes next would otherwise begin elsewhere."""
    world.unreadable = refused((0, 0))
    lease = unsaid((0, 0), (2, 7))
    report = turn(world, tolerance=Tolerance(), kind=kind, lease=lease)
    assert report.end is End.FAILED
    assert ends(world) == [0, 10]
    assert world.offsets["t", 2] == report.sink_positions["t", 2] == (7, "kept")
    assert report.sink_positions["t", 0] == (0, "kept")
