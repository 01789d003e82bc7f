"""What statements need of Kafka Connect: one protocol for a worker's herder and for the client."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from penstock.sdk.errors import PenstockError

Json = dict[str, Any]


class Connect(Protocol):
    """As `penstock.client.ConnectClient`, which is one of these.

    Each method may raise a PenstockError; where Kafka Connect refused, it has its HTTP status in
    ``status`` (see ``status_of``) and its words as the text.
    """

    def connectors(self) -> list[str]:
        """Names of all connectors."""

    def expanded(self, *parts: str) -> dict[str, Json]:
        """All connectors with ``status``, ``info`` or both."""

    def create(
        self, name: str, config: Mapping[str, Any], initial_state: str | None = None
    ) -> Json:
        """Create a connector, in that state; its info."""

    def put_config(self, name: str, config: Mapping[str, Any]) -> Any:
        """Replace its config."""

    def patch_config(self, name: str, patch: Mapping[str, Any]) -> Json:
        """Change some keys of a config, None deletes one."""

    def info(self, name: str) -> Json:
        """Name, config, tasks and type."""

    def status(self, name: str) -> Json:
        """States of the connector and its tasks."""

    def metrics(self, name: str) -> Json:
        """What the worker has counted since it began; Kafka Connect has no such thing."""

    def topics(self, name: str) -> list[str]:
        """The topics that it has used."""

    def delete(self, name: str) -> None:
        """Remove it; its offsets stay."""

    def pause(self, name: str) -> None:
        """Ask for PAUSED."""

    def resume(self, name: str) -> None:
        """Ask for RUNNING."""

    def stop(self, name: str) -> None:
        """Ask for STOPPED."""

    def restart(
        self, name: str, *, include_tasks: bool = False, only_failed: bool = False
    ) -> Json | None:
        """Restart it."""

    def offsets(self, name: str) -> list[Json]:
        """Its offsets, each with ``partition`` and ``offset``."""

    def alter_offsets(self, name: str, offsets: Sequence[Mapping[str, Any]]) -> str:
        """Set the given partitions' offsets; what it says."""

    def reset_offsets(self, name: str) -> str:
        """Forget all its offsets; what it says."""

    def plugins(self) -> list[Json]:
        """Installed connectors: ``class``, ``type`` and ``version``."""

    def plugin_config(self, plugin: str) -> list[Json]:
        """The config keys of a plugin."""

    def validate(self, plugin: str, config: Mapping[str, Any]) -> Json:
        """Check a config; the errors are in the answer, beside their keys."""


def status_of(error: PenstockError) -> int:
    """The HTTP status with which Kafka Connect refused; 0 if it was not even reached."""
    status = getattr(error, "status", 0)
    return status if isinstance(status, int) else 0
