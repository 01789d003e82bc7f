"""Which ranges a turn reads, and what they are called."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.engine.frames.ranges import TurnPlan, Verdict, config_hash, cut, plan_turn, verdict
from penstock.kafka.range_reader import Range
from penstock.kafka.topics import PartitionId

CONFIG = {"connector.class": "SparkSink", "password": "hunter2"}
PARTITIONS = st.dictionaries(
    st.tuples(st.sampled_from(["a", "b"]), st.integers(0, 5)),
    st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)),
)


def planned(
    positions: dict[PartitionId, int], ends: dict[PartitionId, int], most: int = 100, epoch: int = 0
) -> TurnPlan | None:
    return plan_turn(positions, ends, epoch=epoch, target="/t", config=CONFIG, most=most)


@given(PARTITIONS, st.integers(1, 10**6))
def test_a_plan_begins_at_the_positions_ends_within_the_log_and_is_not_empty(
    log: dict[PartitionId, tuple[int, int]], most: int
) -> None:
    positions = {p: at for p, (at, _) in log.items()}
    ends = {p: at + size for p, (at, size) in log.items()}
    plan = planned(positions, ends, most)
    waiting = {p for p, (_, size) in log.items() if size}
    if plan is None:
        assert not waiting
        return
    assert {(r.topic, r.partition) for r in plan.ranges} == waiting
    assert all(r.start == positions[r.topic, r.partition] for r in plan.ranges)
    assert all(r.start < r.stop <= ends[r.topic, r.partition] for r in plan.ranges)
    total = sum(r.count for r in plan.ranges)
    assert total == min(max(most, len(waiting)), sum(ends[p] - positions[p] for p in waiting))


def test_what_small_partitions_do_not_need_goes_to_the_others() -> None:
    plan = planned({("t", 0): 0, ("t", 1): 10, ("t", 2): 0}, {("t", 0): 5, ("t", 1): 1000})
    assert plan is not None
    assert plan.ranges == (Range("t", 0, 0, 5), Range("t", 1, 10, 105))
    assert plan.ends == {("t", 0): 5, ("t", 1): 105}


def plan_of(*ranges: Range, epoch: int = 0, config: str = "c", target: str = "/t") -> TurnPlan:
    return TurnPlan(epoch, ranges, target, config)


def test_an_id_is_that_of_the_ranges_and_the_alter_epoch_alone() -> None:
    one, other = Range("t", 0, 0, 5), Range("t", 1, 0, 5)
    plan = plan_of(one, other)
    assert plan.id == plan_of(other, one, config="d", target="/elsewhere").id
    assert plan.id != plan_of(one, other, epoch=1).id, "a replay after a rewind is written again"
    assert plan.id != plan_of(one).id
    assert plan.id != plan_of(one, Range("t", 1, 0, 6)).id
    assert re.fullmatch(r"e0-[0-9a-f]{32}", plan.id)


def test_a_plan_is_stored_and_found_again() -> None:
    plan = plan_of(Range("t", 0, 3, 5), epoch=4)
    assert TurnPlan.from_json(plan.to_json()) == plan
    for wrong in ("7", "{}", '{"ranges": [{"topic": "t"}]}', "no json"):
        with pytest.raises(ValueError, match=r"."):
            TurnPlan.from_json(wrong)


def test_a_stored_plan_tells_no_value_of_the_configuration() -> None:
    plan = planned({("t", 0): 0}, {("t", 0): 1})
    assert plan is not None
    assert plan.config == config_hash(CONFIG) != config_hash({**CONFIG, "password": "other"})
    assert "hunter2" not in plan.to_json()


@pytest.mark.parametrize(
    ("happened", "epoch", "config", "expected"),
    [
        (True, 0, "c", Verdict.COMMIT),
        (True, 0, "changed", Verdict.COMMIT),
        (True, 1, "c", Verdict.DROP),
        (False, 0, "c", Verdict.RUN),
        (False, 0, "changed", Verdict.DROP),
        (False, 1, "c", Verdict.DROP),
    ],
)
def test_what_becomes_of_a_stored_plan(
    happened: bool, epoch: int, config: str, expected: Verdict
) -> None:
    plan = plan_of(Range("t", 0, 0, 1))
    assert verdict(plan, happened=happened, epoch=epoch, config=config) is expected


def test_what_is_left_of_a_plan_cannot_be_run() -> None:
    left = replace(plan_of(Range("t", 0, 0, 1)), part_of="e0-whole")
    assert left.id == "e0-whole"
    assert verdict(left, happened=True, epoch=0, config="c") is Verdict.COMMIT
    assert verdict(left, happened=False, epoch=0, config="c") is Verdict.DROP


def test_a_range_is_cut_into_pieces() -> None:
    pieces = cut([Range("t", 0, 3, 10), Range("t", 1, 0, 2), Range("t", 2, 4, 4)], 3)
    assert [(p.partition, p.start, p.stop) for p in pieces] == [
        (0, 3, 6),
        (0, 6, 9),
        (0, 9, 10),
        (1, 0, 2),
    ]


def test_a_plan_that_is_cut_is_another() -> None:
    plan = TurnPlan(1, (Range("a", 0, 5, 9), Range("b", 1, 0, 4)), "/t", "config")
    found = plan.cut({("a", 0): 5, ("b", 1): 3})
    assert found.ranges == (Range("b", 1, 0, 3),)
    assert found.id != plan.id
    assert plan.cut({}) == plan
