"""What the tests of the protocol's rules share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from penstock.client import ConnectClient
from topics import Topics

Scripted = Callable[..., None]


@pytest.fixture
def scripted(connectors: ConnectClient, topics: Topics, name: str) -> Scripted:
    """Creates the scripted source of this test, with topic and name as the test's."""

    def create(**keys: Any) -> None:
        topics.create(name)
        config = {key.replace("_", "."): str(value) for key, value in keys.items()}
        connectors.create(name, {"connector.class": "ScriptedSource", "topic": name, **config})

    return create
