"""Waits end when what they wait for is so, and not much later than they were told."""

from typing import Any
from unittest.mock import Mock

import pytest

from penstock.client import (
    ConnectClient,
    ConnectError,
    WaitTimeout,
    raise_if_failed,
    wait_for_health,
    wait_for_state,
    wait_until,
)
from penstock.runtime.errors import BadRequest, NotFound


def status(connector: str, *tasks: str, trace: str = "") -> dict[str, Any]:
    return {
        "name": "n",
        "connector": {"state": connector, "worker_id": "w", "trace": trace},
        "tasks": [
            {"id": i, "state": s, "worker_id": "w", "trace": trace} for i, s in enumerate(tasks)
        ],
        "type": "source",
    }


def test_wait_returns_what_it_found() -> None:
    answers = iter([None, 0, "", "there"])
    assert wait_until(lambda: next(answers), "it", 5, 0.001) == "there"


def test_wait_names_what_did_not_come() -> None:
    with pytest.raises(WaitTimeout, match="waiting for the moon"):
        wait_until(lambda: None, "the moon", 0.1, 0.01)


@pytest.mark.parametrize(
    ("state", "answers"),
    [
        ("RUNNING", [NotFound("none yet"), status("RUNNING"), status("RUNNING", "RUNNING")]),
        ("RUNNING", [status("RUNNING", "RUNNING", "UNASSIGNED"), status("RUNNING", "RUNNING")]),
        ("STOPPED", [status("STOPPED", "RUNNING"), status("STOPPED")]),
        ("PAUSED", [status("PAUSED", "RUNNING"), status("PAUSED", "PAUSED")]),
        ("FAILED", [status("RUNNING", "RUNNING"), status("RUNNING", "FAILED")]),
    ],
)
def test_wait_for_state(
    client: ConnectClient, herder: Mock, state: str, answers: list[Any]
) -> None:
    herder.status.side_effect = answers
    assert wait_for_state(client, "n", state, 10) == answers[-1]


@pytest.mark.parametrize(
    ("failed", "words"),
    [
        (status("FAILED", trace="no such plugin"), "Connector n has FAILED: no such plugin"),
        (status("RUNNING", "RUNNING", "FAILED", trace="bad line"), "Task 1 of connector n"),
    ],
)
def test_failure_ends_a_wait(
    client: ConnectClient, herder: Mock, failed: dict[str, Any], words: str
) -> None:
    herder.status.return_value = failed
    with pytest.raises(ConnectError, match=words):
        wait_for_state(client, "n", "RUNNING", 10)
    with pytest.raises(ConnectError, match=words):
        raise_if_failed(client, "n")


def test_other_errors_end_a_wait(client: ConnectClient, herder: Mock) -> None:
    herder.status.side_effect = BadRequest("no")
    with pytest.raises(ConnectError, match="no"):
        wait_for_state(client, "n", "RUNNING", 10)


def test_wait_for_health(client: ConnectClient, herder: Mock) -> None:
    herder.health.side_effect = [("starting", "soon"), ("healthy", "now")]
    wait_for_health(client, 10)


def test_wait_for_health_says_what_it_heard(client: ConnectClient, herder: Mock) -> None:
    herder.health.return_value = ("starting", "reading the stores")
    with pytest.raises(WaitTimeout, match="reading the stores"):
        wait_for_health(client, 0.1)


def test_wait_for_a_worker_that_never_comes() -> None:
    with (
        ConnectClient("http://127.0.0.1:1") as client,
        pytest.raises(WaitTimeout, match="no answer"),
    ):
        wait_for_health(client, 0.1)
