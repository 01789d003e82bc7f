"""Where a resource lives: an API server, or a file (`penstock apply`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

Json = dict[str, Any]
NORMAL, WARNING = "Normal", "Warning"


class Home(Protocol):
    """What a round writes back. Errors pass through the round, which is then repeated."""

    def write_status(self, status: Mapping[str, Any]) -> None:
        """Set the status; without a request if it is unchanged."""

    def drop_annotation(self, key: str) -> None:
        """Take an annotation away, unless its value has changed since the resource was read."""

    def tell(self, kind: str, reason: str, message: str) -> None:
        """Show people something that happened; ``kind`` is NORMAL or WARNING."""

    def config_map(self, name: str) -> dict[str, str] | None:
        """The data of a ConfigMap beside the resource."""

    def write_config_map(self, name: str, key: str, text: str) -> None:
        """Set one key of a ConfigMap beside the resource, creating it if need be."""


def _utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class Options:
    """What an operator's command line says, as far as a round needs it.

    ``strimzi_offsets``: take the annotation ``strimzi.io/connector-offsets`` too.
    ``stop_seconds``: how long a reset waits for its connector to have stopped.
    ``alter_minutes``: how long offsets are offered to a connector that is not stopped yet.
    """

    strimzi_offsets: bool = False
    stop_seconds: float = 20.0
    alter_minutes: float = 10.0
    now: Callable[[], datetime] = _utc_now
