"""Whose fault it is when a lease does not come back from a Spark cluster."""

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock

import pytest

from penstock.engine.driver.turns import TurnBroken
from penstock.engine.lease.lease import End, Report
from penstock.runtime.config.worker_rules import Rules
from penstock.runtime.plugins import Plugin
from penstock.runtime.running.runner import MOST_LOSSES
from penstock.runtime.running.source_runner import SourceRunner
from penstock.sdk.config import ConfigDef
from sample_connectors.scripted_source import ScriptedSourceConnector

CRASHED = TurnBroken("crashed", "its first attempt ended abruptly")


@pytest.fixture
def runner() -> SourceRunner:
    context = MagicMock()
    context.connection.secrets.return_value = []
    context.worker.rules = Rules()
    plugin = Plugin(ScriptedSourceConnector)
    return SourceRunner(context, "lines", {}, plugin, ConfigDef())


def turn(*, lost: bool) -> Any:
    return MagicMock(lost_executor=lambda: lost, watch=MagicMock(age=1.0))


def test_a_lost_executor_counts_against_nobody_for_a_while(runner: SourceRunner) -> None:
    for _ in range(MOST_LOSSES):
        runner._suspect([0], turn(lost=True), CRASHED)
    assert (runner._suspects, runner.failed) == ([], {})
    runner._suspect([0], turn(lost=True), CRASHED)
    assert (runner._suspects, runner.failed) == ([0], {}), "perhaps it is the task after all"
    runner._suspect([0], turn(lost=True), CRASHED)
    assert list(runner.failed) == [0]


def test_a_lease_that_came_back_ends_the_count(runner: SourceRunner) -> None:
    for _ in range(MOST_LOSSES):
        runner._suspect([0], turn(lost=True), CRASHED)
    runner._blame_reattempted(turn(lost=False), [Report(0, "lease", End.DONE)])
    runner._suspect([0], turn(lost=True), CRASHED)
    assert (runner._suspects, runner.failed) == ([], {})


def test_a_crash_without_a_lost_executor_is_the_tasks(runner: SourceRunner) -> None:
    runner._suspect([0], turn(lost=False), CRASHED)
    runner._suspect([0], turn(lost=False), CRASHED)
    assert list(runner.failed) == [0]
