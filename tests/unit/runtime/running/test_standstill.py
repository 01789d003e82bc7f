"""A runner that gets nowhere says so, beside a state that stays; without Kafka or Spark."""

from __future__ import annotations

import logging
from typing import Any, cast
from unittest.mock import MagicMock

import pytest
from confluent_kafka.admin import AdminClient

from penstock.engine.carriers.carrier import Cause
from penstock.engine.lease.lease import End, Limits, Report
from penstock.engine.lease.tally import Tally
from penstock.kafka.clients import Connection
from penstock.kafka.errors import BrokerUnavailable
from penstock.kafka.outages import Outages
from penstock.runtime.config.worker_rules import Rules
from penstock.runtime.errors import Conflict, InternalError
from penstock.runtime.meters import streaks
from penstock.runtime.meters.metrics import Metrics
from penstock.runtime.plugins import Plugin, Plugins
from penstock.runtime.running.scheduler import TURN, Next, Scheduler
from penstock.runtime.running.source_runner import SourceRunner
from penstock.runtime.running.task_leases import Ended
from penstock.runtime.states import State, Status
from penstock.runtime.stores.status_store import StatusStore
from sample_connectors.scripted_source import KEYS, ScriptedSourceConnector

NAME, HERE = "numbers", "here:8083"
TELLING: dict[str, Any] = {"tally": {}, "active": 0}
FENCED = "LeaseLost: _FENCED: Producer fenced by another instance"
CONVERTERS = {"key.converter": "JsonConverter", "value.converter": "JsonConverter"}


@pytest.fixture
def statuses() -> StatusStore:
    return StatusStore(Connection("nowhere:1"), cast(AdminClient, None), "status", 1)


@pytest.fixture
def context(statuses: StatusStore) -> MagicMock:
    context = MagicMock(
        scheduler=Scheduler(2),
        statuses=statuses,
        worker_id=HERE,
        generation=lambda: 1,
        metrics=Metrics(),
        plugins=Plugins({}),
    )
    context.worker.limits.return_value = Limits()
    context.worker.__getitem__.return_value = 500
    context.worker.rules = Rules()
    context.worker.group_id = "group"
    context.worker.converters.return_value = CONVERTERS
    context.offsets.of.return_value = []
    context.configs.tasks.return_value = []
    context.connection.secrets.return_value = []
    return context


@pytest.fixture
def runner(context: MagicMock) -> SourceRunner:
    config = {"topic": "t", "tasks.max": "2", "password": "hunter2", "name": NAME}
    plugin = Plugin(ScriptedSourceConnector)
    runner = SourceRunner(context, NAME, config, plugin, KEYS)
    assert runner.look() == TURN
    runner._positions = {}
    return runner


def shown(statuses: StatusStore, task: int) -> Status:
    status = statuses.task(NAME, task)
    assert status is not None
    return status


def lose(runner: SourceRunner, times: int = 1, task: int = 0, **fields: Any) -> None:
    for _ in range(times):
        runner._take(Report(task, "lease", End.LOST, trace=FENCED, **fields))


def test_losses_in_a_row_are_told_beside_the_state(
    runner: SourceRunner, statuses: StatusStore
) -> None:
    lose(runner, 2)
    assert shown(statuses, 0).trace is None, "rebalances cause single losses"
    lose(runner)
    status = shown(statuses, 0)
    assert status.state is State.RUNNING
    assert "the last 3 leases of this task were lost" in (status.trace or "")
    assert FENCED in (status.trace or "")
    assert shown(statuses, 1).trace is None


def test_losses_are_not_a_write_each(runner: SourceRunner, statuses: StatusStore) -> None:
    writes = MagicMock()
    statuses._send = writes  # type: ignore[method-assign]  # a spy
    lose(runner, 100)
    assert writes.call_count == 1


@pytest.mark.parametrize(
    "report",
    [
        Report(0, "lease", End.DONE),
        Report(0, "lease", End.LOST, trace=FENCED, tally=Tally(transactions=1)),
    ],
    ids=["a lease that ended well", "a commit before the next loss"],
)
def test_progress_takes_it_back(
    runner: SourceRunner, statuses: StatusStore, report: Report
) -> None:
    lose(runner, 3)
    runner._take(report)
    assert shown(statuses, 0) == Status(
        State.RUNNING, HERE, 1, None, ScriptedSourceConnector.version
    )


def test_a_commit_within_a_lease_takes_it_back(runner: SourceRunner, statuses: StatusStore) -> None:
    """A lease may last a minute; who looks at the status meanwhile must not be misled."""
    lose(runner, 3)
    lease = MagicMock(lease_id="next", task=0)
    runner.meter.begin(lease)
    runner._note_progress(lease, {"tally": {"taken": 5}, "active": 5})
    assert shown(statuses, 0).trace, "nothing is committed yet"
    runner._note_progress(lease, {"tally": {"transactions": 1}, "active": 0})
    assert shown(statuses, 0).trace is None


def test_what_a_task_waits_for_is_told_beside_its_state(
    runner: SourceRunner, statuses: StatusStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    lease = MagicMock(lease_id="one", task=0)
    runner.meter.begin(lease)
    runner._note_progress(lease, TELLING | {"awaits": "no answer from S3"})
    assert shown(statuses, 0).trace is None, "that may be over in a moment"
    monkeypatch.setattr(streaks, "TOLD_SECONDS", 0.0)
    runner._note_progress(lease, TELLING | {"awaits": "no answer from S3"})
    status = shown(statuses, 0)
    assert status.state is State.RUNNING
    assert "Waiting since" in (status.trace or "")
    assert "no answer from S3" in (status.trace or "")
    runner._note_progress(lease, TELLING | {"awaits": None})
    assert shown(statuses, 0).trace, "a new lease knows nothing yet"
    runner._note_progress(lease, TELLING | {"awaits": ""})
    assert shown(statuses, 0).trace is None


def test_nothing_to_do_is_no_standstill(
    runner: SourceRunner, statuses: StatusStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commit whose outcome was unknown may have been the last."""
    lose(runner, 3)
    monkeypatch.setattr(runner, "_look", lambda: Next(delay=0.5))
    monkeypatch.setattr(runner._standstill.losses, "due", list)
    assert runner.look().delay == 0.5
    assert shown(statuses, 0).trace is None


def test_who_loses_lease_after_lease_pauses_alone(runner: SourceRunner) -> None:
    lose(runner, 12)
    assert runner._standstill.losses.due(runner._resting()) == [1]
    assert runner.look() == TURN, "the other task may go on"
    lose(runner, 12, task=1)
    found = runner.look()
    assert not found.turn
    assert found.delay is not None
    assert found.delay > 0


def test_the_first_loss_is_followed_by_a_look_at_once(runner: SourceRunner) -> None:
    lose(runner)
    assert runner.look() == TURN


def test_spark_that_does_not_start_is_told(runner: SourceRunner, statuses: StatusStore) -> None:
    detail = "it does not start: no such master"
    for task in (0, 1) * 3:
        runner._take_loss(Ended(task, MagicMock(task=task), cause=Cause.SPARK_LOST, detail=detail))
    for task in (0, 1):
        assert "no such master" in (shown(statuses, task).trace or "")
    assert runner.meter.task(0).lost == {"spark lost": 3}


def test_waiting_for_an_executor_is_told_and_is_no_failure(
    runner: SourceRunner,
    context: MagicMock,
    statuses: StatusStore,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fleet = context.engine.fleet
    fleet.waits.return_value = True
    context.configs.fenced_tasks.return_value = 0
    context.worker.clients.of.return_value = {}
    monkeypatch.setattr("penstock.runtime.running.runner.fence_tasks", lambda *_: None)
    context.engine.session.starting = False
    runner.turn()
    assert context.engine.run.called
    runner.look()
    assert (connector(statuses).state, connector(statuses).trace) == (State.RUNNING, None)
    monkeypatch.setattr(streaks, "TOLD_SECONDS", 0.0)
    context.engine.session.starting = True
    runner.look()
    assert connector(statuses).trace is None, "Spark itself is awaited, which the views tell"
    context.engine.session.starting = False
    runner.look()
    told = connector(statuses)
    assert told.state is State.RUNNING
    assert (told.trace or "").startswith("Waiting for a Spark executor since 20")
    assert not runner.failed
    fleet.waits.return_value = False
    runner.look()
    assert connector(statuses).trace is None


def connector(statuses: StatusStore) -> Status:
    status = statuses.connector(NAME)
    assert status is not None
    return status


def test_a_task_that_fails_has_its_own_trace(runner: SourceRunner, statuses: StatusStore) -> None:
    lose(runner, 3)
    runner._take(Report(0, "lease", End.FAILED, trace="ValueError: no"))
    runner._standstill.progressed(0)
    assert (shown(statuses, 0).state, shown(statuses, 0).trace) == (State.FAILED, "ValueError: no")


def test_who_was_paused_meanwhile_is_left_alone(
    runner: SourceRunner, statuses: StatusStore
) -> None:
    statuses.put_task(NAME, 0, Status(State.PAUSED, HERE))
    lose(runner, 5)
    assert shown(statuses, 0) == Status(State.PAUSED, HERE)
    statuses.put_task(NAME, 0, Status(State.RUNNING, "there:8083"))
    runner._standstill.losses.clear()
    lose(runner, 5)
    assert shown(statuses, 0).trace is None, "it is another worker's"


def test_a_halted_runner_says_nothing_of_the_next_one(
    runner: SourceRunner, statuses: StatusStore
) -> None:
    runner.halt()
    lose(runner, 5)
    assert shown(statuses, 0).trace is None


def connector_trace(statuses: StatusStore) -> str:
    status = statuses.connector(NAME)
    assert status is not None
    assert status.state is State.RUNNING
    return status.trace or ""


def failing(error: Exception) -> Any:
    return MagicMock(side_effect=error)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (BrokerUnavailable("nobody answers"), "BrokerUnavailable: nobody answers"),
        (RuntimeError("cannot log in with hunter2"), "RuntimeError: cannot log in with"),
    ],
)
def test_what_keeps_a_connector_waiting_is_told_and_the_pauses_grow(
    runner: SourceRunner,
    statuses: StatusStore,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
    told: str,
) -> None:
    monkeypatch.setattr(runner, "_recover", failing(error))
    caplog.set_level(logging.INFO, "penstock.runtime")
    delays = []
    for _ in range(20):
        assert runner.look() == TURN, "a look alone tells nothing of Kafka"
        delays.append(runner.turn().delay)
    assert delays[:6] == [1.0, 2.0, 4.0, 8.0, 10.0, 10.0]
    trace = connector_trace(statuses)
    assert told in trace
    assert "Tried 3 times" in trace
    lines = [line for record in caplog.records if told in (line := record.getMessage())]
    assert len(lines) == 2, "once, and now and then"
    assert "hunter2" not in "".join([trace, *lines])

    monkeypatch.setattr(runner, "_recover", lambda: None)
    monkeypatch.setattr(runner, "_hand_out", lambda: Next(delay=0.5))
    assert runner.turn().delay == 0.5
    assert connector_trace(statuses) == ""


def test_brokers_that_are_known_to_be_down_are_told_by_statuses_and_not_by_each_connector(
    runner: SourceRunner,
    statuses: StatusStore,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    outages: Outages,
) -> None:
    monkeypatch.setattr(runner, "_recover", failing(BrokerUnavailable("nobody answers")))
    assert outages.complain("kafka:9092", "Connection refused"), "the log does not have it yet"
    for _ in range(20):
        runner.look()
        runner.turn()
    assert "nobody answers" in connector_trace(statuses)
    told = [each for each in caplog.records if each.levelno >= logging.INFO]
    assert not [each for each in told if "nobody answers" in each.getMessage()]


def test_tasks_that_cannot_be_stored_are_told(context: MagicMock, statuses: StatusStore) -> None:
    statuses.put_connector(NAME, Status(State.UNASSIGNED, HERE))
    context.put_tasks.side_effect = InternalError("the leader does not answer")
    runner = SourceRunner(context, NAME, {"topic": "t"}, Plugin(ScriptedSourceConnector), KEYS)
    assert [runner.look().delay for _ in range(3)] == [1.0, 2.0, 4.0]
    status = statuses.connector(NAME)
    assert status is not None
    assert status.state is State.UNASSIGNED
    assert "its tasks could not be stored: the leader does not answer" in (status.trace or "")
    context.put_tasks.side_effect = None
    assert runner.look() == TURN
    assert connector_trace(statuses) == ""


def test_waiting_for_another_worker_does_not_grow(
    context: MagicMock, caplog: pytest.LogCaptureFixture
) -> None:
    context.put_tasks.side_effect = Conflict("a rebalance is under way")
    runner = SourceRunner(context, NAME, {"topic": "t"}, Plugin(ScriptedSourceConnector), KEYS)
    assert [runner.look().delay for _ in range(5)] == [1.0] * 5
