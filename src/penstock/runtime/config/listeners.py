"""``listeners`` and ``rest.advertised.*``: where the REST API listens and is reached."""

from __future__ import annotations

import re
import socket
from collections.abc import Mapping
from typing import Any, NamedTuple

from penstock.sdk.config import ConfigDef, ConfigKey, Type, invalid_value
from penstock.sdk.config_validators import between

LISTENER = re.compile(r"(?P<scheme>\w+)://(?:\[(?P<six>[^\]]*)\]|(?P<host>[^:/]*)):(?P<port>\d+)/?")


EVERYWHERE = frozenset({"0.0.0.0", "::"})  # noqa: S104 (compared with, not bound)
DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 8083


class Listener(NamedTuple):
    """Where to listen."""

    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT


def well_formed(name: str, value: Any) -> None:
    """Validator: every listener is a URL with a valid port."""
    for listener in value or ():
        match = LISTENER.fullmatch(listener)
        if match is None or match["scheme"].lower() not in {"http", "https"}:
            raise invalid_value(name, value, "Unable to parse: write http://host:port")
        if int(match["port"]) > 65535:
            raise invalid_value(name, value, f"there is no port {match['port']}")
    if value and len(value) > 1:
        raise invalid_value(name, value, "this worker has only one listener: give one")


LISTENER_KEYS = (
    ConfigKey(
        "listeners",
        Type.LIST,
        default=[],
        validator=well_formed,
        doc="Where the REST API listens, http://host:port. Without a host, only on the loopback "
        "interface. --host and --port override it.",
    ),
    ConfigKey(
        "rest.advertised.host.name",
        default=None,
        doc="Name or address at which others reach this worker.",
    ),
    ConfigKey(
        "rest.advertised.port",
        Type.INT,
        default=None,
        validator=between(1, 65535),
        doc="Port at which others reach this worker.",
    ),
)


def listener_of(properties: Mapping[str, str]) -> Listener:
    """Where to listen according to a worker's properties; ConfigError if they are wrong."""
    found = ConfigDef(*LISTENER_KEYS).parse(properties)["listeners"]
    if not found:
        return Listener()
    match = LISTENER.fullmatch(found[0])
    assert match is not None  # noqa: S101 (checked by its validator)
    return Listener(match["six"] or match["host"] or DEFAULT_HOST, int(match["port"]))


def chosen_listener(properties: Mapping[str, str], host: str | None, port: int | None) -> Listener:
    """Where to listen: on ``host`` and ``port`` if they are given."""
    place = listener_of(properties)
    return Listener(host or place.host, place.port if port is None else port)


def advertised(properties: Mapping[str, str], host: str, port: int) -> str:
    """host:port at which others reach this worker, which listens on ``host`` and ``port``.

    A worker that listens on every interface is known by its host name: workers on two hosts must
    not have the same id.
    """
    values = ConfigDef(*LISTENER_KEYS).parse(properties)
    name = values["rest.advertised.host.name"] or (_own_name() if host in EVERYWHERE else host)
    shown = f"[{name}]" if ":" in name and not name.startswith("[") else name
    return f"{shown}:{values['rest.advertised.port'] or port}"


def _own_name() -> str:
    name = socket.getfqdn()
    return socket.gethostname() if name.startswith("localhost") else name
