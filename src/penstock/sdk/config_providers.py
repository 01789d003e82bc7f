"""The seam between a config and the service that keeps its secrets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from penstock.sdk.config import ConfigDef


class ConfigProvider(ABC):
    """Looks up the values that configs refer to as ``${name:path:key}``.

    A worker makes one for each name in ``config.providers`` whose ``config.providers.<name>.class``
    is this class, and calls ``configure`` once. ``get`` is then called whenever a connector or a
    task starts: in the worker, and in the processes of Spark, so that it must be picklable once it
    is configured, and its connections are to be made where they are used.
    """

    config_def: ClassVar[ConfigDef] = ConfigDef()
    """Its keys, without the prefix ``config.providers.<name>.param.``."""

    @abstractmethod
    def configure(self, config: Mapping[str, str]) -> None:
        """Called once, before anything else. Raises ``ConfigError``."""

    @abstractmethod
    def get(self, path: str, key: str) -> str | None:
        """The value; None if there is none, or connectors may not read it.

        Whatever it raises, the connector or task that needs the value is FAILED. The text of a
        ``ConfigError`` is shown as it is; of any other exception only its kind, since its text may
        hold what is secret.
        """
