"""How a pattern's files are dealt out to tasks."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.plugins.files.file_planner import FilePlanner, bytes_after
from penstock.plugins.files.file_share import reads
from penstock.sdk.distribution.by_bytes import BytesLeft
from penstock.sdk.distribution.strategy import ObjectDistributionStrategy, Share, checksum
from penstock.sdk.objects import StoredObject
from penstock.sdk.offsets import OffsetReader

FILES = st.dictionaries(st.text(min_size=1, max_size=8), st.integers(0, 1 << 40), max_size=40)
TASKS = st.integers(1, 8)


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The files that may not be read; none, unless the test adds some."""
    paths: set[str] = set()
    monkeypatch.setattr(os, "access", lambda path, mode: path not in paths)
    return paths


def owners(shares: list[Share], path: str) -> list[int]:
    return [share.index for share in shares if reads(share, path)]


@pytest.mark.usefixtures("refused")
def test_a_file_that_appears_later_has_exactly_one_owner() -> None:
    left = {f"old-{n}": 0 for n in range(50)}
    shares = FilePlanner().plan(left, [0, 1, 3])
    found = [owners(shares, f"new-{n}") for n in range(100)]
    assert all(len(each) == 1 for each in found)
    assert {index for [index] in found} == {0, 1, 2}
    assert all(len(owners(shares, path)) == 1 for path in left)


@pytest.mark.usefixtures("refused")
@given(FILES, TASKS, st.text(min_size=1, max_size=8))
def test_never_two_owners(left: dict[str, int], tasks: int, new: str) -> None:
    shares = FilePlanner().plan(left, range(tasks))
    collides = checksum(new) in set(map(checksum, left))
    assert len(owners(shares, new)) == (1 if new in left or not collides else 0)


LEFT = {"a": 10, "b": 20, "c": 30, "bad": 40}


class LastGetsAll(ObjectDistributionStrategy):
    """Gives every file to the last task that it is asked for, and notes what it is asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[dict[str, int], list[int]]] = []

    def number_of(self, name: str) -> int:
        return 0

    def plan(
        self, objects: Collection[StoredObject], tasks: Sequence[int], count: int
    ) -> list[Share]:
        self.asked.append(({each.name: each.bytes_left for each in objects}, list(tasks)))
        names = frozenset(each.name for each in objects)
        return [Share(n, count, names if n == tasks[-1] else frozenset()) for n in tasks]


class TestStrategy:
    def test_it_divides_what_can_be_read(self, refused: set[str]) -> None:
        refused.add("bad")
        strategy = LastGetsAll()
        shares = FilePlanner(strategy).plan(LEFT, [0, 1, 2])
        assert [sorted(share.mine) for share in shares] == [[], ["a", "b", "c"], ["bad"]]
        assert strategy.asked == [({"a": 10, "b": 20, "c": 30}, [0, 1])]

    @pytest.mark.usefixtures("refused")
    @given(FILES, TASKS)
    def test_unless_told_otherwise_it_is_by_bytes_left(
        self, left: dict[str, int], tasks: int
    ) -> None:
        files = [StoredObject(path, count) for path, count in left.items()]
        assert FilePlanner().plan(left, range(tasks)) == BytesLeft().plan(
            files, range(tasks), tasks
        )


class TestFailure:
    def test_what_cannot_be_read_has_a_task_of_its_own(self, refused: set[str]) -> None:
        refused.add("bad")
        shares = FilePlanner().plan(LEFT, [0, 1, 2])
        assert shares[2].mine == {"bad"}
        assert shares[0].mine | shares[1].mine == {"a", "b", "c"}

    def test_a_lone_task_has_it_too_and_will_fail(self, refused: set[str]) -> None:
        refused.add("bad")
        [share] = FilePlanner().plan(LEFT, [0])
        assert share.mine == set(LEFT)

    def test_a_failed_task_keeps_it_and_the_others_go_on(self, refused: set[str]) -> None:
        refused.add("bad")
        planner = FilePlanner()
        planner.plan(LEFT, [0, 1, 2])
        shares = planner.plan(LEFT, [0, 1])
        assert planner.held == {"bad"}
        assert [owners(shares, path) for path in "abc"] == [[1], [1], [0]]
        assert owners(shares, "bad") == []

    def test_another_one_does_not_fail_a_second_task(self, refused: set[str]) -> None:
        refused.add("bad")
        planner = FilePlanner()
        planner.plan(LEFT, [0, 1, 2])
        refused.add("c")
        shares = planner.plan(LEFT, [0, 1])
        assert planner.held == {"bad", "c"}
        assert owners(shares, "c") == []
        refused.discard("c")
        assert len(owners(planner.plan(LEFT, [0, 1]), "c")) == 1

    @pytest.mark.usefixtures("refused")
    def test_whatever_made_a_task_fail_does_not_wander(self) -> None:
        planner = FilePlanner()
        before = planner.plan(LEFT, [0, 1])
        [share] = planner.plan({"bad": 0, "new": 5}, [1])
        assert planner.held == before[0].mine
        assert share.mine == {"new"}

    def test_a_new_file_that_cannot_be_read_waits_for_the_next_plan(
        self, refused: set[str]
    ) -> None:
        refused.add("new")
        shares = FilePlanner().plan(LEFT, [0, 1])
        assert owners(shares, "new") == []


def test_bytes_left(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"12345678")

    def at(position: Any) -> OffsetReader:
        return OffsetReader([({"filename": str(file)}, {"position": position})])

    assert bytes_after(OffsetReader(), str(file)) == 8
    assert bytes_after(at(3), str(file)) == 5
    assert bytes_after(at(9), str(file)) == 8, "cut since, so read from its start"
    assert bytes_after(at("x"), str(file)) == 0
    assert bytes_after(at(3), str(tmp_path / "missing")) == 0
