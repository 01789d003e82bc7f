"""The herder of a worker that is served before it has started."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from penstock.rest.access.herder_proxy import HerderProxy
from penstock.rest.herder_api import HerderApi, Json, OwnApi


class Starting(Protocol):
    """A worker, as far as it is used here."""

    @property
    def own(self) -> OwnApi:
        """What it answers from the beginning."""

    @property
    def started(self) -> bool:
        """Whether it has a herder."""

    @property
    def herder(self) -> HerderApi:
        """Unavailable while there is none."""


class StartingHerder(HerderProxy):
    """What the worker says of itself while it starts; any other call is Unavailable until then."""

    def __init__(self, worker: Starting) -> None:
        self._worker = worker

    @property
    def _herder(self) -> HerderApi:
        return self._worker.herder

    @property
    def _own(self) -> OwnApi:
        return self._worker.herder if self._worker.started else self._worker.own

    def root(self) -> Json:
        return self._own.root()

    def health(self) -> tuple[str, str]:
        return self._own.health()

    def verified(
        self, method: str, target: str, body: bytes, headers: Mapping[str, str]
    ) -> str | None:
        return super().verified(method, target, body, headers) if self._worker.started else None

    def loggers(self) -> Json:
        return self._own.loggers()

    def logger(self, name: str) -> Json:
        return self._own.logger(name)

    def set_logger_level(self, name: str, level: str | None) -> list[str]:
        return self._own.set_logger_level(name, level)
