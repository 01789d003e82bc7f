"""Which partitions a sink reads, and with which task."""

from __future__ import annotations

import pytest

from penstock.runtime.running.sink_plan import assign, missing, subscribed

KNOWN = {"orders": 2, "orders-eu": 1, "payments": 1, "new.orders": 1}


def test_listed_topics_are_read_in_order_and_missing_ones_have_no_partitions() -> None:
    config = {"topics": " payments , orders,later,"}
    assert subscribed(config, KNOWN) == [("orders", 0), ("orders", 1), ("payments", 0)]
    assert missing(config, KNOWN) == ["later"]
    assert missing({"topics.regex": "later"}, KNOWN) == []


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
