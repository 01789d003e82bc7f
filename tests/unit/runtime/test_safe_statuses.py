"""A worker that comes too late does not write over what another says of a connector."""

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock

import pytest

from penstock.runtime import status_store
from penstock.runtime.states import State, Status
from penstock.runtime.status_store import StatusStore

HEIR = Status(State.RUNNING, "heir:8083", 7)


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> StatusStore:
    monkeypatch.setattr(status_store, "CompactedLog", MagicMock())
    anything: Any = MagicMock()
    made = StatusStore(anything, anything, "statuses", 1)
    made._producer = anything
    made.put_connector("lines", HEIR)
    made.put_task("lines", 0, HEIR)
    return made


@pytest.mark.parametrize("state", [State.FAILED, State.UNASSIGNED])
@pytest.mark.parametrize("generation", [6, 7])
def test_a_late_end_is_not_shown(store: StatusStore, state: State, generation: int) -> None:
    late = Status(state, "thawed:8083", generation, "frozen")
    store.put_connector("lines", late)
    store.put_task("lines", 0, late)
    assert store.connector("lines") == store.task("lines", 0) == HEIR


@pytest.mark.parametrize(
    "status",
    [
        Status(State.FAILED, "heir:8083", 7, "its own"),
        Status(State.FAILED, "next:8083", 8, "newer"),
        Status(State.RUNNING, "next:8083", 6),
    ],
)
def test_what_is_not_late_is_shown(store: StatusStore, status: Status) -> None:
    store.put_connector("lines", status)
    assert store.connector("lines") == status


def test_whoever_has_the_connector_shows_what_becomes_of_it(store: StatusStore) -> None:
    """Connectors move within a generation, too."""
    store.owns = {"lines"}.__contains__
    failed = Status(State.FAILED, "next:8083", 7, "no such host")
    store.put_connector("lines", failed)
    assert store.connector("lines") == failed


def test_names_are_those_of_connectors_and_of_tasks(store: StatusStore) -> None:
    store.put_task("other", 0, HEIR)
    assert store.names() == {"lines", "other"}
    store.forget("lines")
    assert store.names() == {"other"}
