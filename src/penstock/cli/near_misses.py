"""Keys of a connector's config that look like a slip of the pen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from penstock.cli.output import warn
from penstock.config.near_misses import near_misses

if TYPE_CHECKING:
    from penstock.client import ConnectClient


def tell_near_misses(client: ConnectClient, keys: Iterable[str], config: Mapping[str, Any]) -> None:
    """Warn of ``keys`` that the connector does not know, though it knows one that is close."""
    from penstock.client import ConnectError

    plugin = str(config.get("connector.class", "")).rpartition(".")[2]
    try:
        infos = client.validate(plugin, config)["configs"]
    except ConnectError:
        return  # It is created in any case: this was only to be helpful.
    known = [info["value"]["name"] for info in infos if info["definition"]]
    for key, meant in near_misses(keys, known):
        warn(f"{key} is not a key of {plugin} and was ignored: did you mean {meant}?")
