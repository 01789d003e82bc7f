"""The REST application over a herder that does as it is told."""

import logging
from collections.abc import Iterator
from unittest.mock import Mock, create_autospec

import pytest
from fastapi import FastAPI

from penstock.logs.levels import Levels, in_use, use
from penstock.rest import RestServer, create_app
from penstock.rest.herder_api import HerderApi


@pytest.fixture
def herder() -> Mock:
    herder: Mock = create_autospec(HerderApi, instance=True)
    herder.health.return_value = ("healthy", "All is well")
    herder.config.return_value = {}
    return herder


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[FastAPI, str]]:
    app = create_app(create_autospec(HerderApi, instance=True))
    server = RestServer(app, port=0)
    server.start()
    yield app, server.url
    server.stop()


@pytest.fixture
def fresh_levels() -> Iterator[None]:
    """Log levels as a worker begins with; those of the test run come back."""
    before, root = in_use(), logging.root.level
    use(Levels())
    yield
    use(before)
    logging.root.setLevel(root)
