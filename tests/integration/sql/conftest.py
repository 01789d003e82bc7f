"""A prompt on the worker, the broker and the Spark session of this run."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest

from commands import Commands
from penstock.client import ConnectClient
from penstock.embedded import EmbeddedBroker
from penstock.rest.app import create_app
from penstock.rest.herder_api import HerderApi
from penstock.rest.sql.api import SqlApi
from penstock.runtime.worker import Worker
from served_app import serving
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


@pytest.fixture
def http(worker: Worker, name: str) -> Iterator[httpx.Client]:
    """A client of a REST listener with a catalog of its own."""
    made: list[SqlApi] = []

    def sql(herder: HerderApi) -> SqlApi:
        api = SqlApi(
            herder,
            lambda: worker.config.connection(worker.bootstrap_servers),
            worker.spark,
            worker.config.own_topics,
            f"{name}-catalog",
        )
        made.append(api)
        return api

    with serving(create_app(worker.herder, sql=sql), timeout=90) as client:
        yield client
        made[0].close()
