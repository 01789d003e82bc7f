"""A prompt on the worker, the broker and the Spark session of this run."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from commands import Commands
from penstock.client import ConnectClient
from penstock.embedded import EmbeddedBroker
from penstock.runtime.worker import Worker
from typing_sql import Typing


@pytest.fixture
def typed(
    connectors: ConnectClient, worker: Worker, broker: EmbeddedBroker, name: str
) -> Iterator[Typing]:
    """With a catalog of its own."""
    engine = worker.herder._context.engine
    prompt = Typing(connectors, broker.bootstrap_servers, engine.session.get, f"{name}-catalog")
    yield prompt
    prompt.home.close()


@pytest.fixture
def penstock(
    broker: EmbeddedBroker,
    monkeypatch: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
) -> Commands:
    """The command, which finds the broker in its environment."""
    return Commands(broker.bootstrap_servers, monkeypatch, capsysbinary)


@pytest.fixture
def sink(name: str) -> str:
    """A name for what comes out: the query's id, and so its connector, has it."""
    return re.sub(r"\W", "_", name).upper()
