"""The REST application over a herder that does as it is told; an authority of certificates."""

import logging
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock, create_autospec

import pytest
from fastapi import FastAPI

from certificates import Certificate, make_authority
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


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the certificates of a module are."""
    return tmp_path_factory.mktemp("certificates")


@pytest.fixture(scope="module")
def authority(folder: Path) -> Certificate:
    return make_authority(folder, "authority")
