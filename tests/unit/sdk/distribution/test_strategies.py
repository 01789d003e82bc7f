"""Every object has one task, by whichever strategy, and keeps its offset when tasks change."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.sdk import (
    ConfigError,
    ObjectDistributionStrategy,
    Share,
    StoredObject,
    distribution_class,
    distribution_names,
)
from penstock.sdk.distribution.by_bytes import AN_OBJECT, balanced
from penstock.sdk.distribution.strategy import checksum

NAMES = st.text(min_size=1, max_size=8)
LEFT = st.dictionaries(NAMES, st.integers(0, 1 << 40), max_size=40)
TASKS = st.integers(1, 8)


def strategy(name: str, config: Mapping[str, str] | None = None) -> ObjectDistributionStrategy:
    made = distribution_class(name)()
    made.configure(config or {})
    return made


def partitioned() -> ObjectDistributionStrategy:
    return strategy("partition", {"file.name.template": "{{topic}}-{{partition}}-{{start_offset}}"})


def owners(
    shares: list[Share], dealt_by: ObjectDistributionStrategy, name: str
) -> list[tuple[int, int]]:
    return [(share.index, share.count) for share in shares if share.owns(name, dealt_by)]


def test_the_built_in_ones_are_found_by_name() -> None:
    assert {"object_hash", "partition", "bytes_left"} <= set(distribution_names())
    with pytest.raises(ConfigError, match=r"Unknown distribution type random: .*object_hash"):
        distribution_class("random")


class Alphabetic(ObjectDistributionStrategy):
    """A strategy of one's own: by the first letter."""

    def number_of(self, name: str) -> int | None:
        return ord(name[0]) - ord("a") if name[:1].isalpha() else None


def test_ones_own_strategy_comes_by_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("alphabetic", f"{__name__}:Alphabetic", "penstock.distributions")
    object.__setattr__(point, "load", lambda: Alphabetic)
    found: Any = lambda group: [point]  # noqa: E731 (takes the place of a function)
    monkeypatch.setattr("penstock.sdk.named_plugins.entry_points", found)
    mine = strategy("Alphabetic")
    assert [mine.task_of(name, 2) for name in ("apple", "berry", "cherry", "9")] == [0, 1, 0, None]


@given(LEFT, TASKS, NAMES)
def test_every_object_has_one_task_and_so_has_one_that_appears_later(
    left: dict[str, int], tasks: int, new: str
) -> None:
    objects = [StoredObject(name, size) for name, size in left.items()]
    for name in ("object_hash", "bytes_left"):
        dealt_by = strategy(name)
        shares = dealt_by.plan(objects, range(tasks), tasks)
        assert all(len(owners(shares, dealt_by, each)) == 1 for each in left)
        collides = name == "bytes_left" and checksum(new) in set(map(checksum, left))
        expected = 1 if new in left or not collides else 0
        assert len(owners(shares, dealt_by, new)) == expected


@given(st.lists(st.tuples(st.integers(0, 99), st.integers(0, 10**12)), max_size=30), TASKS)
def test_a_partition_has_one_task(parts: list[tuple[int, int]], tasks: int) -> None:
    dealt_by = partitioned()
    shares = dealt_by.plan([], range(tasks), tasks)
    for partition, offset in parts:
        found = owners(shares, dealt_by, f"orders-{partition}-{offset}")
        assert found == [(partition % tasks, tasks)]


def test_a_name_without_a_partition_belongs_to_no_task() -> None:
    dealt_by = partitioned()
    assert dealt_by.task_of("orders.txt", 3) is None
    shares = dealt_by.plan([], range(3), 3)
    assert owners(shares, dealt_by, "orders.txt") == []


def test_a_template_without_a_partition_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"file.name.template must have \{\{partition\}\}"):
        strategy("partition", {"file.name.template": "{{topic}}"})


def test_by_rule_a_failed_task_keeps_its_objects() -> None:
    dealt_by = strategy("object_hash")
    names = [f"object-{n}" for n in range(50)]
    all_three = dealt_by.plan([], [0, 1, 2], 3)
    without_one = dealt_by.plan([], [0, 2], 3)
    for name in names:
        [(owner, _)] = owners(all_three, dealt_by, name)
        assert owners(without_one, dealt_by, name) == ([] if owner == 1 else [(owner, 3)])


def test_by_bytes_only_tasks_that_run_get_any() -> None:
    dealt_by = strategy("bytes_left")
    objects = [StoredObject(f"object-{n}", n) for n in range(50)]
    shares = dealt_by.plan(objects, [0, 2], 3)
    assert len(shares) == 2
    assert all(len(owners(shares, dealt_by, each.name)) == 1 for each in objects)


@given(LEFT, TASKS)
def test_by_bytes_the_load_is_even(left: dict[str, int], tasks: int) -> None:
    dealt = balanced(left, tasks)
    assert sorted(name for names in dealt for name in names) == sorted(left)
    loads = [sum(left[name] + AN_OBJECT for name in names) for names in dealt]
    assert max(loads) - min(loads) <= max((n + AN_OBJECT for n in left.values()), default=0)


def test_two_large_objects_are_read_at_once() -> None:
    left = {"big": 1 << 30, "bigger": 1 << 31, **{f"small-{n}": 1000 for n in range(100)}}
    first, second = balanced(left, 2)
    assert "bigger" in first
    assert "big" in second


def test_quiet_objects_are_spread_evenly() -> None:
    dealt = balanced({str(n): 0 for n in range(1000)}, 4)
    assert [len(names) for names in dealt] == [250] * 4


def test_a_share_travels_as_configuration() -> None:
    share = Share(1, 3, frozenset(["ä", "b"]), frozenset([1, 2]))
    assert Share.from_config("share", {"other": "x", **share.to_config("share")}) == share
    assert Share.from_config("share", {"file.glob": "*"}) is None
