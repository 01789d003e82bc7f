"""A runner whose connector or Spark hangs, on a real scheduler and without Kafka or Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

from penstock.engine.lease.lease import Limits
from penstock.runtime import callbacks
from penstock.runtime.config.worker_rules import Rules
from penstock.runtime.plugins import Plugin
from penstock.runtime.running.scheduler import Scheduler
from penstock.runtime.running.source_runner import SourceRunner
from penstock.runtime.states import State, Status
from sample_connectors.hanging_source import HANGING_KEYS, HangingSourceConnector
from waiting import eventually

NAME = "hanging"
Begin = Callable[[str], SourceRunner]


class Statuses:
    """Keeps the last status of the connector."""

    last: Status | None = None

    def put_connector(self, _: str, status: Status) -> None:
        self.last = status

    def __getattr__(self, name: str) -> Any:
        return MagicMock(return_value=[])


@pytest.fixture
def statuses() -> Statuses:
    return Statuses()


@pytest.fixture
def release(tmp_path: Path) -> Iterator[Path]:
    """The file that ends the hanging."""
    yield (file := tmp_path / "release")
    file.touch()


@pytest.fixture
def context(statuses: Statuses, monkeypatch: pytest.MonkeyPatch) -> Iterator[MagicMock]:
    monkeypatch.setattr("penstock.runtime.running.runner.fence_tasks", lambda *_: None)
    scheduler = Scheduler(2)
    context = MagicMock(scheduler=scheduler, statuses=statuses)
    context.worker.limits.return_value = Limits()
    context.worker.__getitem__.return_value = 500
    context.offsets.of.return_value = []
    context.configs.fenced_tasks.return_value = 0
    context.connection.secrets.return_value = []
    context.worker.rules = Rules()
    context.plugins.handed.side_effect = lambda _, config: config
    scheduler.start()
    yield context
    scheduler.stop()


@pytest.fixture
def begin(context: MagicMock, release: Path) -> Begin:
    """Begins to run a connector that hangs in one place."""

    def run(where: str) -> SourceRunner:
        keys = {"topic": "t", "hang.in": where, "hang.until": str(release)}
        plugin = Plugin(HangingSourceConnector)
        runner = SourceRunner(context, NAME, keys, plugin, HANGING_KEYS)
        context.scheduler.wake(runner)
        return runner

    return run


def _hangs(status: Status | None) -> bool:
    return status is not None and "callback does not return" in (status.trace or "")


def _runs(status: Status | None) -> bool:
    return status is not None and status.state is State.RUNNING


@pytest.mark.parametrize("where", ["start", "look", "plan"])
def test_the_connector_fails_and_no_second_call_is_made(
    begin: Begin,
    statuses: Statuses,
    release: Path,
    monkeypatch: pytest.MonkeyPatch,
    where: str,
) -> None:
    monkeypatch.setattr(callbacks, "CALLBACK_SECONDS", 0.3)
    first = begin(where)
    eventually(lambda: _hangs(statuses.last), within=20, what="FAILED")
    first.halt()
    statuses.last = None
    second = begin(where)
    eventually(lambda: _hangs(statuses.last), within=20, what="FAILED again")
    second.halt()
    monkeypatch.setattr(callbacks, "CALLBACK_SECONDS", 60.0)
    release.touch()

    def runs() -> bool:
        statuses.last = None
        third = begin(where)
        eventually(lambda: statuses.last is not None, within=20)
        third.halt()
        return _runs(statuses.last)

    eventually(runs, within=20, what="RUNNING once the first call has returned")


def test_what_is_halted_before_it_is_given_up_says_nothing(
    begin: Begin,
    context: MagicMock,
    statuses: Statuses,
    release: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = context.scheduler.callbacks._calls
    runner = begin("start")
    call = eventually(lambda: calls.get(NAME), within=20, what="the call")
    runner.halt()
    monkeypatch.setattr(callbacks, "CALLBACK_SECONDS", 0.0)
    eventually(lambda: call.give_up is None, within=20, what="that it is given up")
    assert statuses.last is None
    release.touch()
    eventually(lambda: not runner._activity.locked(), within=20, what="its return")
    assert statuses.last is None


def test_a_stop_that_hangs_is_left_behind(
    begin: Begin, statuses: Statuses, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.runtime.running.started_connector.STOP_SECONDS", 0.1)
    runner = begin("stop")
    eventually(lambda: statuses.last is not None, within=20, what="RUNNING")
    runner.halt()
    monkeypatch.setattr(callbacks, "CALLBACK_SECONDS", 0.3)
    begin("stop")
    eventually(lambda: _hangs(statuses.last), within=20, what="FAILED while the stop hangs")
