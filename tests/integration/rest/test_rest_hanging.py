"""Callbacks that do not return: whatever hangs, hangs alone."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest

from penstock.client import ConnectClient
from penstock.runtime import callbacks
from penstock.runtime.validation import check_process, own_checks
from topics import Topics
from waiting import eventually

pytestmark = pytest.mark.heavy

Create = Callable[..., None]
HANGS = "callback does not return"


@pytest.fixture(autouse=True)
def _impatient(client: ConnectClient, monkeypatch: pytest.MonkeyPatch) -> None:
    # The process that checks is kept: the patience of the tests does not cover its start.
    plain = {"name": "plain", "connector.class": "HangingSource", "topic": "plain"}
    assert client.validate("HangingSource", plain)["error_count"] == 0
    monkeypatch.setattr(callbacks, "CALLBACK_SECONDS", 2.0)


@pytest.fixture
def release(tmp_path: Path) -> Iterator[Path]:
    """The file that ends the hanging; it is there at the end of the test in any case."""
    file = tmp_path / "release"
    yield file
    file.touch()


@pytest.fixture
def hanging(connectors: ConnectClient, topics: Topics, name: str, release: Path) -> Create:
    """Creates a source that hangs in one place."""

    def create(where: str, state: str | None = None, count: int = 20) -> None:
        if not topics.admin.list_topics(timeout=20).topics.get(name):
            topics.create(name)
        keys = {"hang.in": where, "hang.until": str(release), "count": str(count)}
        config = {"connector.class": "HangingSource", "topic": name, **keys}
        connectors.create(name, config, state)

    return create


@pytest.mark.parametrize("where", ["start", "look", "plan"])
def test_the_connector_fails_and_comes_back(
    connectors: ConnectClient,
    hanging: Create,
    reach: Callable[..., None],
    name: str,
    where: str,
    release: Path,
) -> None:
    hanging(where)

    def failed() -> Any:
        status = connectors.status(name)["connector"]
        return status["state"] == "FAILED" and HANGS in status["trace"]

    eventually(failed, within=30, what="FAILED")
    # A second call is not made while the first has not returned.
    connectors.restart(name)
    eventually(failed, within=30, what="FAILED again")
    release.touch()

    def recovered() -> bool:
        state = connectors.status(name)["connector"]["state"]
        if state == "FAILED":
            connectors.restart(name, include_tasks=True)
        return bool(state == "RUNNING")

    eventually(recovered, within=60, every=0.5, what="RUNNING after a restart")
    reach("RUNNING", "RUNNING")


def test_many_that_hang_do_not_keep_others_from_running(
    connectors: ConnectClient,
    topics: Topics,
    name: str,
    release: Path,
) -> None:
    topics.create(name)
    keys = {"connector.class": "HangingSource", "topic": name, "hang.until": str(release)}
    for number in range(8):
        connectors.create(f"{name}-{number}", {**keys, "hang.in": "look"})
    connectors.create(name, {"connector.class": "ScriptedSource", "topic": name, "count": "5"})
    eventually(lambda: len(topics.values(name)) == 5, within=60, what="the other one's records")
    assert connectors.status(name)["connector"]["state"] == "RUNNING"
    # Requests on those that hang are answered too.
    connectors.delete(f"{name}-0")
    connectors.stop(f"{name}-1")


def test_a_stop_that_hangs(
    connectors: ConnectClient,
    hanging: Create,
    reach: Callable[..., None],
    name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("penstock.runtime.running.started_connector.STOP_SECONDS", 0.5)
    hanging("stop")
    reach("RUNNING", "RUNNING")
    connectors.stop(name)
    reach("STOPPED")


def test_an_alter_that_hangs(
    connectors: ConnectClient,
    hanging: Create,
    refused: Callable[..., tuple[int, str]],
    name: str,
) -> None:
    hanging("alter", "STOPPED")
    entries = [{"partition": {"task": 0}, "offset": {"next": 3}}]
    for _ in range(2):
        status, message = refused(lambda: connectors.alter_offsets(name, entries))
        assert status == 500
        assert HANGS in message
    assert connectors.status(name)["connector"]["state"] == "STOPPED"


def test_validations_that_hang_are_killed(
    connectors: ConnectClient,
    refused: Callable[..., tuple[int, str]],
    name: str,
    release: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Long enough for processes to start, so that all that may hang at once do.
    monkeypatch.setattr(callbacks, "CALLBACK_SECONDS", 10.0)
    keys = {"hang.in": "validate", "hang.until": str(release)}
    config = {"name": name, "connector.class": "HangingSource", "topic": name, **keys}

    def answer() -> tuple[int, str]:
        return refused(lambda: connectors.validate("HangingSource", config))

    most = own_checks.MOST_OF_ONE
    with ThreadPoolExecutor(most + 1) as pool:
        answers = [pool.submit(answer) for _ in range(most + 1)]
        eventually(lambda: len(_check_processes()) == most, within=20, what="checks that hang")
        plain = {"name": name, "connector.class": "ScriptedSource", "topic": name}
        assert connectors.validate("ScriptedSource", plain)["error_count"] == 0
        for status, message in [future.result(30) for future in answers]:
            assert status == 500
            assert HANGS in message
    eventually(lambda: len(_check_processes()) <= 1, within=20, what="only the one that is kept")
    release.touch()
    monkeypatch.setattr(callbacks, "CALLBACK_SECONDS", 60.0)
    assert connectors.validate("HangingSource", config)["error_count"] == 0


def _check_processes() -> list[psutil.Process]:
    children = psutil.Process().children(recursive=True)
    return [child for child in children if check_process.__name__ in _command(child)]


def _command(process: psutil.Process) -> list[str]:
    with contextlib.suppress(psutil.ZombieProcess, psutil.NoSuchProcess):
        return process.cmdline()
    return []
