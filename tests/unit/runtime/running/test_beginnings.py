"""Waiting for the tasks of a new connector."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

from penstock.runtime.running import beginnings
from penstock.runtime.running.beginnings import await_tasks
from penstock.runtime.states import State, Status, Target


def _stores(target: Target = Target.STARTED) -> tuple[Mock, Mock]:
    configs, statuses = Mock(), Mock()
    configs.target.return_value = target
    configs.tasks.return_value = [{}, {}]
    statuses.connector.return_value = None
    return configs, statuses


def test_it_returns_when_every_task_has_a_status() -> None:
    configs, statuses = _stores()
    statuses.task_ids.side_effect = [[], [0], [0, 1]]
    await_tasks(configs, statuses, "orders")
    assert statuses.task_ids.call_count == 3


def test_a_failed_connector_gets_no_tasks() -> None:
    configs, statuses = _stores()
    statuses.connector.return_value = Status(State.FAILED, "w", 1)
    await_tasks(configs, statuses, "orders")
    statuses.task_ids.assert_not_called()


@pytest.mark.parametrize("target", [Target.PAUSED, Target.STOPPED])
def test_what_does_not_run_is_not_waited_for(target: Target) -> None:
    configs, statuses = _stores(target)
    await_tasks(configs, statuses, "orders")
    statuses.connector.assert_not_called()


def test_a_slow_start_is_not_waited_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    configs, statuses = _stores()
    statuses.task_ids.return_value = []
    monkeypatch.setattr(beginnings, "PATIENCE_SECONDS", 0.02)
    await_tasks(configs, statuses, "orders")
    statuses.task_ids.assert_called()
