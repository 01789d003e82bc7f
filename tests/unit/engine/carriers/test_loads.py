"""How busy each task keeps a core."""

from __future__ import annotations

import pytest

from penstock.engine.carriers.loads import Loads


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr("penstock.engine.carriers.loads.time.monotonic", lambda: now[0])
    return now


def test_it_is_the_share_of_a_core_over_some_seconds(clock: list[float]) -> None:
    found = Loads()
    found.note("t", {"cpu_seconds": 1.0})
    assert found.of("t") == 0.0
    clock[0] += 10
    found.note("t", {"cpu_seconds": 6.0})
    assert found.of("t") == 0.5


def test_another_lease_of_the_task_counts_from_its_own_beginning(clock: list[float]) -> None:
    found = Loads()
    found.note("t", {"cpu_seconds": 50.0})
    clock[0] += 10
    found.note("t", {"cpu_seconds": 0.5})
    clock[0] += 10
    found.note("t", {"cpu_seconds": 1.5})
    assert found.of("t") == pytest.approx(0.1)


def test_unknown_tasks_are_light() -> None:
    assert Loads().of("t") == 0.0
    assert not Loads().heavy("t")


def test_a_moved_task_is_remembered_until_it_is_forgotten(clock: list[float]) -> None:
    found = Loads()
    found.weigh("t", heavy=True)
    assert found.heavy("t")
    found.weigh("t", heavy=False)
    assert not found.heavy("t")
    found.weigh("t", heavy=True)
    found.forget("t")
    assert not found.heavy("t")
