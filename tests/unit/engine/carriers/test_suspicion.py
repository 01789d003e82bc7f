"""Whose fault it is that a carrier died."""

from __future__ import annotations

from collections import defaultdict

import pytest

from penstock.engine.carriers.placement import Seat, Wish, place
from penstock.engine.carriers.suspicion import Suspicion


def _carriers(suspicion: Suspicion, tasks: list[str]) -> list[list[str]]:
    groups: dict[str | None, list[str]] = defaultdict(list)
    for task in tasks:
        groups[suspicion.group(task)].append(task)
    return list(groups.values())


@pytest.mark.parametrize("count", [1, 2, 3, 50])
@pytest.mark.parametrize("guilty", [0, -1])
def test_the_one_that_kills_is_found_and_nobody_else_is_blamed(count: int, guilty: int) -> None:
    tasks = [f"t{n}" for n in range(count)]
    culprit, suspicion, deaths = tasks[guilty], Suspicion(), 0
    found: list[str] = []
    while not found:
        carrier = next(c for c in _carriers(suspicion, tasks) if culprit in c)
        found, deaths = suspicion.died(carrier), deaths + 1
        for others in _carriers(suspicion, tasks):
            for task in others if culprit not in others else []:
                suspicion.cleared(task)
    assert found == [culprit]
    assert deaths <= 8
    assert {suspicion.group(task) for task in tasks} == {None}


def test_a_single_death_is_nobodys_fault() -> None:
    suspicion = Suspicion()
    assert suspicion.died(["a"]) == []
    assert suspicion.group("a") is not None
    suspicion.cleared("a")
    assert suspicion.died(["a"]) == []


def test_halves_keep_apart() -> None:
    suspicion = Suspicion()
    suspicion.died(["a", "b", "c"])
    assert suspicion.group("a") == suspicion.group("b") != suspicion.group("c")


def test_who_is_not_suspected_is_not_blamed() -> None:
    suspicion = Suspicion()
    suspicion.died(["a", "b"])
    suspicion.cleared("a")
    assert suspicion.died(["a", "b", "c"]) == []
    assert suspicion.group("a") is suspicion.group("c") is None
    assert suspicion.died(["a", "b", "c"]) == ["b"]


class Crowd:
    """Tasks in few carriers, one of which crashes whenever the culprit is in it."""

    def __init__(self, tasks: list[str], most: int) -> None:
        self.most = most
        self.waiting = tasks
        self.carriers: dict[str, list[str]] = {}
        self.suspicion = Suspicion()
        self._count = 0

    def place(self) -> None:
        waiting, self.waiting = self.waiting, []
        for task in waiting:
            wish = Wish(group=self._group(task), repeated=self.suspicion.repeated(task))
            decision = place(wish, list(map(self._seat, self.carriers)), self.most)
            if decision.wait:
                self.waiting.append(task)
                continue
            if decision.start and decision.carrier is None:
                self._count += 1
            name = decision.carrier or str(self._count)
            self.carriers.setdefault(name, []).append(task)

    def crash(self, culprit: str) -> list[str]:
        """All go on for a while; what the crash of the culprit's carrier, if any, shows."""
        hit = next((name for name, tasks in self.carriers.items() if culprit in tasks), None)
        victims = self.carriers.pop(hit) if hit is not None else []
        for task in (task for tasks in self.carriers.values() for task in tasks):
            self.suspicion.cleared(task)
        self.waiting += victims
        return self.suspicion.died(victims) if victims else []

    def _group(self, task: str) -> str | None:
        return self.suspicion.group(task)

    def _seat(self, name: str) -> Seat:
        tasks = self.carriers[name]
        groups = frozenset(group for group in map(self._group, tasks) if group)
        return Seat(
            name, own=False, connected=True, leases=len(tasks), load=0, room=9, groups=groups
        )


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("guilty", [0, 24, -1])
def test_the_one_that_kills_is_found_though_carriers_are_few(most: int, guilty: int) -> None:
    tasks = [f"t{n}" for n in range(50)]
    crowd = Crowd(list(tasks), most)
    found: list[str] = []
    rounds = 0
    while not found:
        crowd.place()
        found = crowd.crash(tasks[guilty])
        rounds += 1
    assert found == [tasks[guilty]]
    assert rounds <= 20


def test_after_a_single_crash_all_go_on_at_once_in_the_only_carrier() -> None:
    crowd = Crowd([f"t{n}" for n in range(50)], 1)
    crowd.place()
    crowd.crash("t7")
    crowd.place()
    assert crowd.waiting == []
