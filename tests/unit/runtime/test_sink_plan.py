"""Which partitions and ranges a sink turn takes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.kafka.topics import Position
from penstock.runtime.sink_plan import (
    FEWEST_RECORDS,
    MOST_BYTES,
    MOST_RECORDS,
    TURN_SECONDS,
    Budget,
    assign,
    plan_ranges,
    subscribed,
)

KNOWN = {"orders": 2, "orders-eu": 1, "payments": 1, "new.orders": 1}


def test_listed_topics_are_read_in_order_and_missing_ones_have_no_partitions() -> None:
    config = {"topics": " payments , orders,later,"}
    assert subscribed(config, KNOWN) == [("orders", 0), ("orders", 1), ("payments", 0)]


def test_a_topic_that_has_grown_brings_its_new_partitions() -> None:
    assert subscribed({"topics": "orders"}, {"orders": 3})[-1] == ("orders", 2)


@pytest.mark.parametrize(
    ("regex", "topics"),
    [
        ("orders", {"orders"}),
        ("orders.*", {"orders", "orders-eu"}),
        (".*orders", {"orders", "new.orders"}),
        ("order", set()),
        ("(?<kind>orders)(-eu)?", {"orders", "orders-eu"}),
    ],
)
def test_a_regex_matches_whole_names(regex: str, topics: set[str]) -> None:
    assert {topic for topic, _ in subscribed({"topics.regex": regex}, KNOWN)} == topics


def test_partitions_go_to_the_idlest_task() -> None:
    partitions = [("t", p) for p in range(5)]
    assert sorted(assign(partitions, 2, {}).values()) == [0, 0, 0, 1, 1]


def test_whoever_has_a_partition_keeps_it() -> None:
    partitions = [("t", p) for p in range(4)]
    before = assign(partitions, 3, {})
    more = [("a", 0), *partitions, ("z", 0)]
    after = assign(more, 3, before)
    assert {p: after[p] for p in partitions} == before
    assert sorted(after.values()) == [0, 0, 1, 1, 2, 2]


def test_partitions_of_a_task_that_is_gone_are_given_away() -> None:
    assert assign([("t", 0), ("t", 1)], 1, {("t", 0): 0, ("t", 1): 1}) == {("t", 0): 0, ("t", 1): 0}


def test_a_partition_that_is_gone_is_forgotten() -> None:
    assert assign([("t", 0)], 2, {("t", 0): 1, ("gone", 0): 0}) == {("t", 0): 1}


def test_a_new_budget_is_a_modest_one() -> None:
    assert Budget().records() == 25_000 * TURN_SECONDS


def test_a_budget_never_leaves_its_bounds() -> None:
    assert Budget(per_second=1.0).records() == FEWEST_RECORDS
    assert Budget(per_second=1e9, mean_bytes=1.0).records() == MOST_RECORDS
    assert Budget(per_second=1e9, mean_bytes=100_000.0).records() == MOST_BYTES // 100_000
    assert Budget(mean_bytes=1e12).records() == FEWEST_RECORDS
    assert Budget(mean_bytes=0.0).records() > 0


def test_a_budget_approaches_the_observed_speed() -> None:
    budget = Budget(per_second=10_000.0)
    for _ in range(20):
        budget.learn(records=40_000, payload_bytes=4_000_000, seconds=1.0)
    assert budget.records() == pytest.approx(80_000, rel=0.01)
    assert budget.mean_bytes == 100.0


def test_a_small_turn_teaches_nothing() -> None:
    budget = Budget()
    budget.learn(records=10, payload_bytes=10_000_000, seconds=3.0)
    budget.learn(records=0, payload_bytes=0, seconds=3.0)
    assert budget == Budget()


def test_a_turn_of_no_time_at_all_is_no_division_by_zero() -> None:
    budget = Budget()
    budget.learn(records=1_000, payload_bytes=1_000, seconds=0.0)
    assert budget.per_second > 0


def test_nothing_new_is_nothing_planned() -> None:
    assert plan_ranges({("t", 0): 5, ("t", 1): 9}, {("t", 0): 5, ("t", 1): 3}, Budget()) == {}
    assert plan_ranges({("t", 0): 5}, {}, Budget()) == {}


def test_what_one_partition_does_not_need_goes_to_the_others() -> None:
    budget = Budget(per_second=500.0)
    starts = {("t", 0): 0, ("t", 1): 100}
    ranges = plan_ranges(starts, {("t", 0): 10, ("t", 1): 100_000}, budget)
    assert ranges == {("t", 0): (0, 10), ("t", 1): (100, 1090)}


POSITIONS = st.dictionaries(
    st.tuples(st.sampled_from(["a", "b", "c"]), st.integers(0, 40)),
    st.tuples(st.integers(0, 10_000), st.integers(-100, 5_000)),
    max_size=60,
)


@given(POSITIONS, st.floats(1.0, 10_000.0))
def test_ranges_are_fair_and_within_what_there_is_and_what_is_affordable(
    partitions: dict[Position, tuple[int, int]], per_second: float
) -> None:
    starts = {p: start for p, (start, _) in partitions.items()}
    ends = {p: start + lag for p, (start, lag) in partitions.items()}
    budget = Budget(per_second=per_second)
    ranges = plan_ranges(starts, ends, budget)
    taken = {p: stop - start for p, (start, stop) in ranges.items()}

    assert set(ranges) == {p for p in starts if ends[p] > starts[p]}
    assert all(start == starts[p] and stop <= ends[p] for p, (start, stop) in ranges.items())
    assert all(count > 0 for count in taken.values())
    assert sum(taken.values()) <= budget.records()
    left = {p: ends[p] - stop for p, (_, stop) in ranges.items()}
    # Whoever is left behind got as much as anybody else, but for the remainder of a division.
    assert all(
        taken[p] >= taken[other] - 1 for p, rest in left.items() if rest > 0 for other in taken
    )
    if any(left.values()):
        assert sum(taken.values()) == budget.records()


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9)), unique=True),
    st.integers(1, 8),
    st.integers(1, 8),
)
def test_every_partition_has_one_task_and_keeps_it_while_it_can(
    partitions: list[Position], before: int, after: int
) -> None:
    first = assign(partitions, before, {})
    second = assign(partitions, after, first)
    assert set(second) == set(partitions)
    assert all(0 <= task < after for task in second.values())
    assert all(second[p] == task for p, task in first.items() if task < after)
    assert assign(partitions, after, second) == second
