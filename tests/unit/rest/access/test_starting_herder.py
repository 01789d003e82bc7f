"""What is answered before the worker has a herder, and by which part of it."""

from __future__ import annotations

from inspect import signature
from unittest.mock import MagicMock, create_autospec

import pytest

from penstock.rest.access.herder_proxy import HerderProxy
from penstock.rest.access.starting_herder import StartingHerder
from penstock.rest.herder_api import HerderApi, OwnApi
from penstock.runtime.errors import Unavailable

NAMES = [name for name in vars(HerderProxy) if not name.startswith("_")]
OWN = {"root", "health", "loggers", "logger", "set_logger_level"}


class Worker:
    """Has no herder until it is given one."""

    def __init__(self) -> None:
        self.own: MagicMock = create_autospec(OwnApi, instance=True)
        self.given: MagicMock | None = None

    @property
    def started(self) -> bool:
        return self.given is not None

    @property
    def herder(self) -> MagicMock:
        if self.given is None:
            raise Unavailable("starting")
        return self.given


def ask(herder: HerderApi, name: str) -> object:
    arguments = [object() for _ in signature(getattr(HerderApi, name)).parameters][1:]
    return getattr(herder, name)(*arguments)


@pytest.mark.parametrize("name", NAMES)
def test_while_it_starts(name: str) -> None:
    worker = Worker()
    herder = StartingHerder(worker)
    if name == "verified":
        assert ask(herder, name) is None, "no worker of the cluster is known yet"
    elif name in OWN:
        assert ask(herder, name) is getattr(worker.own, name).return_value
    else:
        with pytest.raises(Unavailable):
            ask(herder, name)


@pytest.mark.parametrize("name", NAMES)
def test_once_it_has_started(name: str) -> None:
    worker = Worker()
    herder = StartingHerder(worker)
    worker.given = create_autospec(HerderApi, instance=True)
    ask(herder, name)
    assert getattr(worker.given, name).called
    assert not worker.own.mock_calls
