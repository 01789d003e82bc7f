"""When what has failed is restarted by itself: Strimzi's pauses, counter and reset."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

import pytest
from confluent_kafka.admin import AdminClient

from penstock.kafka.clients import Connection
from penstock.runtime.errors import Conflict
from penstock.runtime.meters.metrics import Metrics
from penstock.runtime.running.auto_restart import AutoRestarter, pause_seconds
from penstock.runtime.running.context import Context
from penstock.runtime.states import State, Status, Target
from penstock.runtime.stores.status_store import StatusStore

NAME, HERE = "orders", "w:1"
MINUTE = 60.0


class Bench:
    """A restarter with a clock that moves when told, and a herder that only notes."""

    def __init__(self, most: int | None = None) -> None:
        self.now = 5000.0
        self.target = Target.STARTED
        self.statuses = StatusStore(Connection("nowhere:1"), cast(AdminClient, None), "status", 1)
        self.do_here = Mock()
        self.metrics = Metrics()
        configs = SimpleNamespace(names=lambda: [NAME], target=lambda _: self.target)
        context: Any = SimpleNamespace(
            worker={"auto.restart.enabled": True, "auto.restart.max.restarts": most},
            worker_id=HERE,
            configs=configs,
            statuses=self.statuses,
            metrics=self.metrics,
        )
        self.restarter = AutoRestarter(cast(Context, context), self.do_here, lambda: self.now)
        self.show(State.RUNNING, State.RUNNING)

    def show(self, connector: State, *tasks: State, worker: str = HERE) -> None:
        self.statuses.put_connector(NAME, Status(connector, worker))
        for task, state in enumerate(tasks):
            self.statuses.put_task(NAME, task, Status(state, worker))

    def after(self, minutes: float) -> int:
        """How often it was restarted after so many more minutes, looked at once."""
        self.now += minutes * MINUTE
        before = self.do_here.call_count
        self.restarter.check()
        return int(self.do_here.call_count - before)

    @property
    def count(self) -> int:
        return self.metrics.of(NAME).auto_restarts.count


def test_the_pauses_are_strimzis() -> None:
    minutes = [pause_seconds(n) / MINUTE for n in range(10)]
    assert minutes == [0, 2, 6, 12, 20, 30, 42, 56, 60, 60]


def test_what_is_healthy_is_left_alone() -> None:
    bench = Bench()
    assert bench.after(0) == bench.after(100) == 0
    assert bench.count == 0


def test_what_makes_no_progress_is_tried_again_by_itself_and_not_restarted() -> None:
    bench = Bench()
    bench.statuses.remark_connector(NAME, HERE, "waiting since noon")
    bench.statuses.remark_task(NAME, 0, HERE, "no progress since noon")
    assert bench.statuses.task(NAME, 0) == Status(State.RUNNING, HERE, 0, "no progress since noon")
    assert bench.after(0) == bench.after(100) == 0


@pytest.mark.parametrize(
    ("connector", "tasks", "plan"),
    [
        (State.FAILED, (), {"connector": True, "tasks": []}),
        (State.RUNNING, (State.RUNNING, State.FAILED), {"connector": False, "tasks": [1]}),
    ],
)
def test_a_failed_connector_or_task_is_restarted_at_once(
    connector: State, tasks: tuple[State, ...], plan: Any
) -> None:
    bench = Bench()
    bench.show(connector, *tasks)
    assert bench.after(0) == 1
    bench.do_here.assert_called_once_with(NAME, "restart", plan)
    assert bench.count == 1
    assert bench.metrics.of(NAME).auto_restarts.last_ms


def test_the_pauses_grow_while_it_keeps_failing() -> None:
    bench = Bench()
    bench.show(State.RUNNING, State.FAILED)
    assert bench.after(0) == 1
    for pause in (2, 6, 12, 20):
        assert bench.after(pause - 0.1) == 0
        assert bench.after(0.1) == 1
    assert bench.count == 5


def test_the_count_begins_anew_after_staying_healthy_for_as_long() -> None:
    bench = Bench()
    bench.show(State.RUNNING, State.FAILED)
    bench.after(0)
    bench.after(2)
    bench.show(State.RUNNING, State.RUNNING)
    bench.after(6)
    assert bench.count == 2  # not longer than the pause yet
    bench.after(0.1)
    assert bench.count == 0
    bench.show(State.RUNNING, State.FAILED)
    assert bench.after(0) == 1


def test_no_more_than_the_worker_allows() -> None:
    bench = Bench(most=2)
    bench.show(State.FAILED)
    assert [bench.after(100) for _ in range(4)] == [1, 1, 0, 0]
    never = Bench(most=0)
    never.show(State.FAILED)
    assert never.after(0) == 0


@pytest.mark.parametrize("target", [Target.PAUSED, Target.STOPPED])
def test_what_should_not_run_is_not_restarted(target: Target) -> None:
    bench = Bench()
    bench.show(State.RUNNING, State.FAILED)
    bench.target = target
    assert bench.after(0) == 0


def test_another_workers_connector_is_its_own_affair() -> None:
    bench = Bench()
    bench.show(State.FAILED, State.FAILED, worker="elsewhere:1")
    assert bench.after(0) == 0


def test_a_restart_that_is_refused_counts_and_harms_nobody() -> None:
    bench = Bench()
    bench.show(State.FAILED)
    bench.do_here.side_effect = Conflict("a rebalance is underway")
    assert bench.after(0) == 1
    assert bench.after(1) == 0
    assert bench.after(1) == 1
