"""A check that raises, as the answer of ``Connector.validate``, and when a connector starts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from penstock.sdk.connectors import SinkConnector
from penstock.sdk.errors import ConfigError


def objections(check: Callable[[], object], key: str) -> list[tuple[str, str]]:
    """The ConfigError that ``check`` raises, as (key, message); ``key`` if it names none."""
    try:
        check()
    except ConfigError as error:
        return [(error.key or key, str(error))]
    return []


class CheckedSinkConnector(SinkConnector):
    """A sink whose config is checked as a whole: when it is validated, and before it starts."""

    main_key: ClassVar[str]
    """The key that is at fault where the check names none."""

    @abstractmethod
    def check(self, config: Mapping[str, str]) -> object:
        """ConfigError if the config is wrong. Must be quick and ask no service."""

    def validate(self, config: Mapping[str, str]) -> Sequence[tuple[str, str]]:
        return objections(lambda: self.check(config), self.main_key)

    def start(self, config: Mapping[str, str]) -> None:
        self.check(config)
        super().start(config)
