"""Applies Kubernetes resources without Kubernetes, with the operator's own code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from penstock.cli.output import say, warn
from penstock.sdk.errors import UserError

if TYPE_CHECKING:
    from penstock.client import ConnectClient

Json = dict[str, Any]
SECONDS = 30.0


def is_resource(content: Any) -> bool:
    """Whether it has the form of a resource, rather than of a connector's config."""
    return isinstance(content, dict) and "apiVersion" in content and "kind" in content


class FileHome:
    """A resource from a file, which is not changed; messages are printed."""

    def __init__(self, resource: Json, where: str) -> None:
        self.resource, self._where = resource, where

    def write_status(self, status: Mapping[str, Any]) -> None:
        """Kept for the next round."""
        self.resource["status"] = dict(status)

    def drop_annotation(self, key: str) -> None:
        """The file is not changed: say so."""
        del self.resource["metadata"]["annotations"][key]
        warn(f"{self._where}: remove {key}, or it will be done again the next time.")

    def tell(self, kind: str, reason: str, message: str) -> None:
        """A line."""
        (say if kind == "Normal" else warn)(f"{self.resource['metadata']['name']}: {message}")

    def config_map(self, name: str) -> dict[str, str] | None:
        """There are none here."""
        return None

    def write_config_map(self, name: str, key: str, text: str) -> None:
        """There are none here."""
        raise UserError(
            f"ConfigMap {name} needs Kubernetes; `penstock get offsets` shows them here."
        )

    @property
    def problem(self) -> str:
        """Why it is not ready; empty if it is."""
        conditions = self.resource.get("status", {}).get("conditions", ())
        told = next((c for c in conditions if c["type"] == "Ready"), {"status": "False"})
        return "" if told["status"] == "True" else str(told.get("message", "It is not ready."))


def apply_resource(client: ConnectClient, resource: Json, where: str) -> None:
    """Apply one, and wait until it is ready; UserError says why it is not."""
    from penstock.operator.names import CONNECTOR, OFFSETS
    from penstock.operator.pause import is_paused
    from penstock.operator.validation import problems

    if wrong := problems(resource):
        raise UserError(f"{where}: {' '.join(wrong)} Correct it there.")
    rounds: dict[str, Callable[[ConnectClient, FileHome], None]] = {
        CONNECTOR: _connector,
        OFFSETS: _offsets,
    }
    if resource["kind"] not in rounds:
        raise UserError(f"{where}: a {resource['kind']} needs Kubernetes: see `penstock deploy`.")
    if is_paused(resource):
        warn(f"{resource['metadata']['name']}: reconciliation is paused, so nothing was done.")
        return
    home = FileHome(resource, where)
    rounds[resource["kind"]](client, home)
    if home.problem:
        raise UserError(f"{resource['metadata']['name']}: {home.problem}")


def _connector(client: ConnectClient, home: FileHome) -> None:
    import yaml

    from penstock.client import WaitTimeout, wait_until
    from penstock.operator.connector import ConnectorRound
    from penstock.operator.home import Options

    def settled() -> bool:
        return ConnectorRound(home.resource, home, Options()).run(client)

    try:
        wait_until(settled, "the connector", SECONDS, interval=0.5)
    except WaitTimeout:
        return  # its condition says what is the matter
    shown = home.resource["status"].get("connectorOffsets")
    if shown and home.resource["spec"].get("showOffsets"):
        say(yaml.safe_dump({"connectorOffsets": shown}, sort_keys=False).rstrip())


def _offsets(client: ConnectClient, home: FileHome) -> None:
    from penstock.operator.home import Options
    from penstock.operator.offsets import OffsetsRound

    OffsetsRound(home.resource, home, Options()).run(client)
