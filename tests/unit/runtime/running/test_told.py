"""What the leader asks for comes too late: the connector has moved, or should no longer run."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest

from penstock.runtime.cluster.assignments import Assignments
from penstock.runtime.errors import Conflict
from penstock.runtime.running.connector_control import RESTART, RESUME, ConnectorControl
from penstock.runtime.running.restarts import RestartPlan
from penstock.runtime.running.runners import Runners
from penstock.runtime.states import Target

NAME, HERE = "lines", "here:8083"
PLAN = RestartPlan(connector=True, tasks=frozenset({0}))


@pytest.fixture
def context() -> MagicMock:
    context = MagicMock(worker_id=HERE)
    context.configs.config.return_value = {"connector.class": "FileStreamSource"}
    context.configs.target.return_value = Target.STARTED
    return context


@pytest.fixture
def roster() -> MagicMock:
    return MagicMock(**{"owner.return_value": "there:8083"})


def test_what_has_moved_begins_here_no_more(context: MagicMock, roster: MagicMock) -> None:
    runners = Runners()
    control = ConnectorControl(context, runners, roster)
    control.do(RESUME, NAME)
    with pytest.raises(Conflict, match="has left worker here:8083"):
        control.do(RESTART, NAME, PLAN.to_json())
    assert runners.names() == []
    context.statuses.put_connector.assert_not_called()
    context.statuses.put_task.assert_not_called()


@pytest.mark.parametrize("target", [Target.PAUSED, Target.STOPPED, None])
def test_tasks_of_what_is_not_to_run_are_not_stored(
    context: MagicMock, roster: MagicMock, target: Target | None
) -> None:
    nobody: Any = None
    leader: Any = SimpleNamespace(leading=True)
    assignments = Assignments("here:1", leader, context.configs, roster, nobody, nobody)
    assignments.put_tasks(NAME, [{"file": "a"}])
    context.configs.put_tasks.assert_called_once_with(NAME, [{"file": "a"}])
    if target is None:
        context.configs.config.return_value = None
    else:
        context.configs.target.return_value = target
    with pytest.raises(Conflict, match="should no longer run"):
        assignments.put_tasks(NAME, [{"file": "b"}])
    context.configs.put_tasks.assert_called_once()
