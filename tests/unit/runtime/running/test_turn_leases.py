"""The tasks of a frame turn, on an engine that only records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import MagicMock

import pytest

from penstock.engine.carriers.carrier import Cause
from penstock.engine.driver.frame_turns import TurnDone
from penstock.engine.frames.frame_lease import FrameReport
from penstock.engine.frames.turn_order import TurnOutcome
from penstock.engine.lease.lease import End, Limits
from penstock.runtime.running.turn_leases import MOST_CRASHES, TurnLeases
from penstock.sdk.errors import FatalError


def lease_of(task: int) -> Any:
    return MagicMock(task=task, lease_id=f"lease-{task}", limits=Limits(8.0), secrets=("hunter2",))


LEASES = (lease_of(0), lease_of(1))


class Engine(MagicMock):
    """Takes one turn after the other."""

    done: Callable[[TurnDone], None]
    turn: MagicMock

    def begin(self, _turn: Any, _wanted: Any, done: Callable[[TurnDone], None]) -> MagicMock:
        self.done = done
        self.turn = MagicMock(waits=False, awaits_executor=False, heard=0.0)
        self.turn.where.return_value = "in the connector's build"
        return self.turn


@pytest.fixture
def engine() -> Engine:
    made = Engine()
    made.turns.begin = made.begin
    made.fleet.withdraw.return_value = False
    return made


@pytest.fixture
def leases(engine: Engine) -> TurnLeases:
    return TurnLeases(engine, grace=5.0, wake=lambda: None, on_progress=lambda *_: None)


def run(leases: TurnLeases) -> bool:
    return leases.run_turn(MagicMock(), LEASES, lambda: True)


def report_of(task: int, end: End = End.DONE) -> FrameReport:
    return FrameReport(task, f"lease-{task}", end)


def test_reports_are_the_ends_of_tasks_and_a_task_without_one_is_lost(
    leases: TurnLeases, engine: Engine
) -> None:
    assert run(leases)
    assert leases.take() == ([], {0, 1})
    engine.done(done := TurnDone(1.0, TurnOutcome((report_of(1),))))
    ended, running = leases.take()
    assert {each.task: each.report and each.report.end for each in ended} == {0: None, 1: End.DONE}
    assert (running, leases.take_done(), leases.idle) == (set(), [done], True)


def test_an_error_of_the_connector_fails_every_task_without_its_secrets(
    leases: TurnLeases, engine: Engine
) -> None:
    run(leases)
    engine.done(TurnDone(1.0, error=FatalError("no plan for hunter2")))
    ended, _ = leases.take()
    reports = [each.report for each in ended]
    assert [report.end for report in reports if report] == [End.FAILED, End.FAILED]
    assert all(report and "hunter2" not in report.trace for report in reports)
    assert all(report and "no plan for" in report.trace for report in reports)


def test_crashes_are_nobodys_fault_until_they_are_too_many(
    leases: TurnLeases, engine: Engine
) -> None:
    guilty = []
    for _ in range(MOST_CRASHES):
        run(leases)
        engine.done(TurnDone(1.0, cause=Cause.CRASHED, detail="exit 3"))
        guilty.append({each.guilty for each in leases.take()[0]})
    assert guilty == [{False}] * (MOST_CRASHES - 1) + [{True}]


def test_a_turn_that_ended_otherwise_clears_the_crashes(leases: TurnLeases, engine: Engine) -> None:
    for cause in [Cause.CRASHED, Cause.CRASHED, Cause.EXECUTOR_LOST, Cause.CRASHED]:
        run(leases)
        engine.done(TurnDone(1.0, cause=cause))
        assert not any(each.guilty for each in leases.take()[0])


def test_a_turn_that_does_not_end_is_revoked_and_says_where_it_hangs(
    leases: TurnLeases, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(leases)
    monkeypatch.setattr("time.monotonic", lambda: 64.9)
    leases.check()
    engine.turn.revoke.assert_not_called()
    monkeypatch.setattr("time.monotonic", lambda: 65.1)
    leases.check()
    engine.turn.revoke.assert_called_once()
    ended, running = leases.take()
    assert [each.hung for each in ended] == ["in the connector's build"] * 2
    assert running == set()


def test_a_turn_that_waits_for_spark_does_not_hang(
    leases: TurnLeases, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(leases)
    engine.turn.waits = True
    monkeypatch.setattr("time.monotonic", lambda: 1000.0)
    leases.check()
    engine.turn.revoke.assert_not_called()


def test_a_turn_that_waits_for_an_executor_says_so_until_it_ends(
    leases: TurnLeases, engine: Engine
) -> None:
    assert not leases.waiting()
    run(leases)
    assert not leases.waiting()
    engine.turn.awaits_executor = True
    assert leases.waiting()
    engine.done(TurnDone(1.0, TurnOutcome((report_of(0), report_of(1)))))
    assert not leases.waiting()


def test_the_end_waits_for_the_turn_and_then_revokes_it(leases: TurnLeases, engine: Engine) -> None:
    run(leases)
    leases.close()
    assert not leases.end(0.01)
    engine.turn.revoke.assert_called_once()
    assert leases.idle
    assert not run(leases), "no more turns"


def test_the_end_of_a_turn_that_is_over_revokes_nothing(leases: TurnLeases, engine: Engine) -> None:
    run(leases)
    engine.done(TurnDone(1.0, TurnOutcome((report_of(0), report_of(1)))))
    assert leases.end(0.01)
    engine.turn.revoke.assert_not_called()
