"""A worker that comes too late does not write over what another says of a connector."""

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock

import pytest

from penstock.kafka.compacted_log import LogRecord
from penstock.runtime.offsets_api import OffsetsApi
from penstock.runtime.states import State, Status
from penstock.runtime.stores import status_store
from penstock.runtime.stores.status_store import StatusStore

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
    store.listen(owns={"lines"}.__contains__)
    failed = Status(State.FAILED, "next:8083", 7, "no such host")
    store.put_connector("lines", failed)
    assert store.connector("lines") == failed


def test_names_are_those_of_connectors_and_of_tasks(store: StatusStore) -> None:
    store.put_task("other", 0, HEIR)
    assert store.names() == {"lines", "other"}
    store.forget("lines")
    assert store.names() == {"other"}


class TestWhatATaskLeftUncommitted:
    LEFT = (("t", 0, 500, 1000),)
    FAILED = Status(State.FAILED, "heir:8083", 7, "disk full", uncommitted=LEFT)

    def test_it_is_known_on_every_worker_after_the_tasks_are_gone(self, store: StatusStore) -> None:
        store.put_task("lines", 0, self.FAILED)
        store.put_task("lines", 0, None)
        assert store.uncommitted("lines") == list(self.LEFT)
        written = [call.args[1] for call in store._producer.produce.call_args_list]  # type: ignore[union-attr]  # a Mock
        other = StatusStore(MagicMock(), MagicMock(), "statuses", 1)
        for offset, body in enumerate(written):
            other._take(LogRecord(b"status-task-lines-0", body, 0, offset))
        assert other.uncommitted("lines") == list(self.LEFT)

    def test_until_it_runs_again_or_is_deleted(self, store: StatusStore) -> None:
        store.put_task("lines", 0, self.FAILED)
        store.put_task("lines", 0, HEIR)
        assert store.uncommitted("lines") == []
        store.put_task("lines", 0, self.FAILED)
        store.forget("lines")
        assert store.uncommitted("lines") == []

    def test_whoever_alters_the_offset_past_it_is_told(self, store: StatusStore) -> None:
        store.put_task("lines", 0, self.FAILED)
        api = OffsetsApi(MagicMock(statuses=store), MagicMock())
        told = api._passed_over("lines", {("t", 0): 1001})
        assert "read but not committed when it failed" in told
        assert "t-0 offsets 500 to 999" in told
        assert api._passed_over("lines", {("t", 0): 500}) == ""
