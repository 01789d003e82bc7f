"""What the tests of the REST API on a real worker share."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from penstock.client import ConnectApiError, ConnectClient
from penstock.logs.forms import TextForm
from penstock.logs.levels import Kept, in_use, use
from topics import Topics
from waiting import eventually

Scripted = Callable[..., None]
Collecting = Callable[..., dict[str, str]]
Referred = Callable[..., dict[str, str]]
Refused = Callable[[Callable[[], Any]], tuple[int, str]]
States = Callable[[], tuple[str, list[str]]]


@pytest.fixture
def http(client: ConnectClient) -> Iterator[httpx.Client]:
    """Plain HTTP to the worker, for status codes and for bodies that no client would send."""
    with httpx.Client(base_url=client.url, trust_env=False, timeout=60) as plain:
        yield plain


@pytest.fixture
def scripted(connectors: ConnectClient, topics: Topics, name: str) -> Scripted:
    """Creates the scripted source of this test, with topic and name as the test's."""

    def create(initial_state: str | None = None, **keys: Any) -> None:
        topics.create(name)
        config = {key.replace("_", "."): str(value) for key, value in keys.items()}
        full = {"connector.class": "ScriptedSource", "topic": name, **config}
        connectors.create(name, full, initial_state)

    return create


@pytest.fixture
def collecting(connectors: ConnectClient, name: str, tmp_path: Path) -> Collecting:
    """Creates the collecting sink of this test, and returns its config."""

    def create(initial_state: str | None = None, **keys: str) -> dict[str, str]:
        config = {"connector.class": "CollectingSink", "topics": name, "out": str(tmp_path), **keys}
        connectors.create(name, config, initial_state)
        return config

    return create


@pytest.fixture
def referred(secrets_folder: Path, name: str) -> Referred:
    """Writes entries into this test's properties file; references to them."""

    def write(**entries: object) -> dict[str, str]:
        file = secrets_folder / f"{name}.properties"
        draft = file.with_suffix(".tmp")
        draft.write_text("".join(f"{key}={value}\n" for key, value in entries.items()))
        draft.rename(file)
        return {key: f"${{file:{file}:{key}}}" for key in entries}

    return write


@pytest.fixture
def refused() -> Refused:
    """Makes a call that the worker must refuse; status and message of the refusal."""

    def call(request: Callable[[], Any]) -> tuple[int, str]:
        with pytest.raises(ConnectApiError) as caught:
            request()
        assert "Traceback" not in caught.value.message
        return caught.value.status, caught.value.message

    return call


@pytest.fixture
def states(connectors: ConnectClient, name: str) -> States:
    """The state of this test's connector, and those of its tasks; "" while there is no status."""

    def read() -> tuple[str, list[str]]:
        try:
            status = connectors.status(name)
        except ConnectApiError as error:
            if error.status != 404:
                raise
            return "", []
        return status["connector"]["state"], [task["state"] for task in status["tasks"]]

    return read


@pytest.fixture
def reach(states: States) -> Callable[..., None]:
    """Waits until connector and tasks have these states."""

    def wait(connector: str, *tasks: str) -> None:
        wanted = (connector, list(tasks))
        eventually(lambda: states() == wanted, within=60, what=f"{wanted}, not {states()}")

    return wait


@pytest.fixture
def arrive(connectors: ConnectClient, name: str) -> Callable[..., None]:
    """Waits until tasks of this test's scripted source stand at these numbers, in order."""

    def wait(*numbers: int) -> None:
        def there() -> bool:
            found = {e["partition"]["task"]: e["offset"]["next"] for e in connectors.offsets(name)}
            return [found.get(task) for task in range(len(numbers))] == list(numbers)

        eventually(there, within=60, what=f"offsets {numbers}")

    return wait


@pytest.fixture
def log() -> Iterator[Callable[[], list[str]]]:
    """The lines of the worker's log, as in its file; levels come back after the test."""
    before, root = in_use(), logging.root.level
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(TextForm())
    handler.addFilter(Kept())
    logging.root.addHandler(handler)
    yield lambda: stream.getvalue().splitlines()
    logging.root.removeHandler(handler)
    use(before)
    logging.root.setLevel(root)
