"""What a restart request restarts, for every combination of its flags."""

from __future__ import annotations

from typing import cast

import pytest
from confluent_kafka.admin import AdminClient

from penstock.kafka.clients import Connection
from penstock.runtime.running.restarts import RestartPlan
from penstock.runtime.states import State, Status
from penstock.runtime.stores.status_store import StatusStore

NAME = "my-sink-1"
RUNNING = State.RUNNING
FAILED = State.FAILED


def statuses(connector: State | None, *tasks: State) -> StatusStore:
    """A store that was never started: it answers from memory and writes nothing."""
    store = StatusStore(Connection("nowhere:1"), cast(AdminClient, None), "status", 1)
    if connector is not None:
        store.put_connector(NAME, Status(connector, "w:1"))
    for task, state in enumerate(tasks):
        store.put_task(NAME, task, Status(state, "w:1"))
    store.put_task("my-sink", 1, Status(FAILED, "w:1"))
    store.put_task(f"{NAME}-0", 0, Status(FAILED, "w:1"))
    return store


@pytest.mark.parametrize(
    ("include_tasks", "only_failed", "connector", "planned_connector", "planned_tasks"),
    [
        (False, False, RUNNING, True, set()),
        (False, False, FAILED, True, set()),
        (False, True, RUNNING, False, set()),
        (False, True, FAILED, True, set()),
        (True, False, RUNNING, True, {0, 1, 2}),
        (True, False, FAILED, True, {0, 1, 2}),
        (True, True, RUNNING, False, {1}),
        (True, True, FAILED, True, {1}),
    ],
)
def test_every_combination(
    include_tasks: bool,
    only_failed: bool,
    connector: State,
    planned_connector: bool,
    planned_tasks: set[int],
) -> None:
    store = statuses(connector, RUNNING, FAILED, RUNNING)
    plan = RestartPlan.of(store, NAME, include_tasks, only_failed)
    assert plan == RestartPlan(planned_connector, frozenset(planned_tasks))
    assert plan.empty == (not planned_connector and not planned_tasks)


def test_nothing_has_failed() -> None:
    assert RestartPlan.of(statuses(RUNNING, RUNNING), NAME, True, True).empty


def test_a_connector_without_a_status_has_not_failed() -> None:
    assert RestartPlan.of(statuses(None), NAME, True, True).empty


def test_planned_parts_are_shown_restarting_and_without_their_trace() -> None:
    before = {
        "name": NAME,
        "connector": {"state": "RUNNING", "worker_id": "w:1"},
        "tasks": [
            {"id": 0, "state": "RUNNING", "worker_id": "w:1"},
            {"id": 1, "state": "FAILED", "worker_id": "w:1", "trace": "why"},
        ],
        "type": "sink",
    }
    shown = RestartPlan(connector=False, tasks=frozenset({1})).show(before)
    assert shown["connector"] == before["connector"]
    assert shown["tasks"] == [
        {"id": 0, "state": "RUNNING", "worker_id": "w:1"},
        {"id": 1, "state": "RESTARTING", "worker_id": "w:1"},
    ]
    everything = RestartPlan(connector=True, tasks=frozenset({0, 1})).show(before)
    assert everything["connector"] == {"state": "RESTARTING", "worker_id": "w:1"}
    assert [task["state"] for task in everything["tasks"]] == ["RESTARTING", "RESTARTING"]
    assert before["tasks"][1]["state"] == "FAILED"  # type: ignore[index]  # a list of tasks
