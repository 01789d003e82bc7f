"""The REST application over a herder that does as it is told; an authority of certificates."""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock, create_autospec

import pytest
from fastapi import FastAPI

from certificates import Certificate, make_authority
from penstock.logs import secrets
from penstock.logs.levels import Levels, in_use, use
from penstock.rest import RestServer, create_app
from penstock.rest.herder_api import HerderApi
from process_state import changes, process_state

STATE = pytest.StashKey[dict[str, Any]]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    """Note how the process is before the first fixture."""
    item.stash[STATE] = process_state()
    yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """After the last one it must be so again, or other tests fail in some orders."""
    yield
    changed = changes(item.stash[STATE], process_state())
    assert not changed, f"the test has changed this for the whole process: {changed}"


@pytest.fixture(autouse=True)
def no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of other tests are not hidden: one of them may be a word of this test's log."""
    monkeypatch.setattr(secrets, "_hidden", {})


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
    levels = {name: logging.getLogger(name).level for name in before.loggers}
    use(Levels())
    yield
    use(before)
    logging.root.setLevel(root)
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the certificates of a module are."""
    return tmp_path_factory.mktemp("certificates")


@pytest.fixture(scope="module")
def authority(folder: Path) -> Certificate:
    return make_authority(folder, "authority")
