"""The leases of one connector: one per task, ended together, on a fleet that only records."""

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock

import pytest

from penstock.engine.carriers.carrier import Cause
from penstock.engine.carriers.codec import CodecError
from penstock.engine.carriers.orders import encode_report
from penstock.engine.lease.lease import End, Limits, Report
from penstock.runtime.running.task_leases import Handed, TaskLeases


def lease_of(task: int = 0, lease_seconds: float = 60.0) -> Any:
    return MagicMock(task=task, lease_id=f"lease-{task}", limits=Limits(lease_seconds))


@pytest.fixture
def engine() -> MagicMock:
    engine = MagicMock()
    engine.fleet.withdraw.return_value = False
    return engine


@pytest.fixture
def woken() -> list[bool]:
    return []


@pytest.fixture
def leases(engine: MagicMock, woken: list[bool]) -> TaskLeases:
    return TaskLeases(
        engine, grace=5.0, wake=lambda: woken.append(True), on_progress=lambda *_: None
    )


def finished(engine: MagicMock) -> set[str]:
    return {call.args[0] for call in engine.fleet.finish.call_args_list}


def dry(leases: TaskLeases, task: int, seconds: float | None) -> None:
    leases.progressed(f"lease-{task}", {"dry": seconds})


def test_a_report_is_taken_once_and_wakes_the_runner(leases: TaskLeases, woken: list[bool]) -> None:
    leases.hand_over(lease_of(0))
    leases.hand_over(lease_of(1))
    leases.reported("lease-0", encode_report(Report(-1, "lease-0", End.DONE, records=3)))
    assert woken
    [ended], running = leases.take()
    assert (ended.task, ended.report and ended.report.task, running) == (0, 0, {1})
    assert leases.take() == ([], {1})
    leases.reported("lease-0", encode_report(Report(0, "lease-0", End.DONE)))
    assert leases.take() == ([], {1})


def test_leases_finish_when_all_are_dry_for_long_enough(
    leases: TaskLeases, engine: MagicMock
) -> None:
    leases.hand_over(lease_of(0))
    leases.hand_over(lease_of(1))
    dry(leases, 0, 99.0)
    assert finished(engine) == set(), "the other has not been heard from"
    dry(leases, 1, 9.0)
    dry(leases, 0, None)
    assert finished(engine) == set()
    dry(leases, 0, 10.0)
    assert finished(engine) == set(), "not for long enough"
    dry(leases, 1, 10.0)
    assert finished(engine) == {"lease-0", "lease-1"}


def test_alone_a_lease_may_begin_at_once(leases: TaskLeases, engine: MagicMock) -> None:
    leases.hand_over(lease_of(0))
    leases.asked("lease-0")
    engine.fleet.confirm.assert_called_once_with("lease-0")
    assert leases.take_asking() == []


def test_beside_other_workers_the_runner_is_asked(engine: MagicMock, woken: list[bool]) -> None:
    leases = TaskLeases(
        engine,
        grace=5.0,
        wake=lambda: woken.append(True),
        on_progress=lambda *_: None,
        alone=lambda: False,
    )
    leases.hand_over(lease_of(0))
    leases.asked("lease-0")
    engine.fleet.confirm.assert_not_called()
    assert woken == [True]
    assert leases.take_asking() == ["lease-0"]
    assert leases.take_asking() == []


@pytest.mark.parametrize("together", [True, False])
def test_one_that_ends_disturbs_the_others_only_where_work_is_cut_anew(
    leases: TaskLeases, engine: MagicMock, together: bool
) -> None:
    leases.together = together
    leases.hand_over(lease_of(0))
    leases.hand_over(lease_of(1))
    leases.lost("lease-0", Cause.CRASHED, "")
    assert finished(engine) == ({"lease-1"} if together else set())


def test_what_waits_for_a_carrier_never_hangs() -> None:
    waiting = Handed(lease_of(lease_seconds=0.0))
    assert not waiting.overdue(grace=5.0, now=10_000.0), "however long an executor takes to start"


def test_a_lease_hangs_long_after_it_should_have_ended() -> None:
    handed = Handed(lease_of(lease_seconds=60.0), began=100.0)
    assert not handed.overdue(grace=5.0, now=164.0)
    assert handed.overdue(grace=5.0, now=166.0)
    handed.waited = 165.0
    assert not handed.overdue(grace=5.0, now=169.0), "it waits for slow brokers"
    assert handed.overdue(grace=5.0, now=171.0)


def test_a_lease_that_does_not_finish_hangs_too() -> None:
    handed = Handed(lease_of(lease_seconds=60.0), began=100.0, finishing=110.0)
    assert not handed.overdue(grace=5.0, now=114.0)
    assert handed.overdue(grace=5.0, now=116.0)


def test_a_lease_that_hangs_says_where_and_its_siblings_are_not_blamed(
    leases: TaskLeases, engine: MagicMock
) -> None:
    leases.hand_over(lease_of(0, lease_seconds=-100.0))
    leases.hand_over(lease_of(1))
    leases.progressed("lease-0", {"stuck": "in poll"})
    leases.progressed("lease-1", {})
    leases.check()
    engine.fleet.condemn.assert_called_once_with("lease-0")
    for lease in ("lease-0", "lease-1"):
        leases.lost(lease, Cause.CONDEMNED, "")
    assert [each.hung for each in leases.take()[0]] == ["in poll", None]


def test_what_cannot_be_sent_fails(leases: TaskLeases, engine: MagicMock) -> None:
    engine.run.side_effect = CodecError("its plugin belongs to no entry point")
    leases.hand_over(lease_of(0))
    [ended], _ = leases.take()
    assert ended.report is not None
    assert (ended.report.end, "no entry point" in ended.report.trace) == (End.FAILED, True)


def test_ending_calls_off_what_was_not_sent_and_revokes_what_does_not_listen(
    leases: TaskLeases, engine: MagicMock
) -> None:
    leases.hand_over(lease_of(0))
    leases.hand_over(lease_of(1))
    engine.fleet.withdraw.side_effect = lambda lease: lease == "lease-0"
    leases.close()
    assert not leases.end(0.0)
    assert finished(engine) == {"lease-1"}
    engine.fleet.condemn.assert_called_once_with("lease-1")
    engine.fleet.revoke.assert_called_once_with("lease-1")
    assert leases.idle
    assert not leases.hand_over(lease_of(2))


def test_a_lease_that_only_closes_its_task_is_left_to_it(
    leases: TaskLeases, engine: MagicMock
) -> None:
    leases.hand_over(lease_of(0))
    leases.progressed("lease-0", {"closing": True})
    assert leases.end(0.0)
    engine.fleet.leave_closing.assert_called_once_with("lease-0", 5.0)
    engine.fleet.condemn.assert_not_called()
    assert leases.idle


def test_beside_one_that_only_closes_one_that_does_not_listen_is_revoked(
    leases: TaskLeases, engine: MagicMock
) -> None:
    for task in range(2):
        leases.hand_over(lease_of(task))
        leases.progressed(f"lease-{task}", {"closing": task == 0})
    assert not leases.end(0.0)
    engine.fleet.leave_closing.assert_called_once_with("lease-0", 5.0)
    engine.fleet.condemn.assert_called_once_with("lease-1")


def test_what_closes_has_five_seconds_however_little_grace_there_is() -> None:
    handed = Handed(lease_of(lease_seconds=60.0), began=100.0, finishing=110.0)
    handed.told = {"closing": True}
    assert not handed.overdue(grace=1.0, now=114.0)
    assert handed.overdue(grace=1.0, now=116.0)
