"""Whose fault it is that a carrier died."""

from __future__ import annotations

from collections import defaultdict

import pytest

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
