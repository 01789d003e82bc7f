"""Helper functions of the base layer, for the code of an upper layer.

An upper layer sets the workers' config (and image), has the base layer deploy them, and then
registers its connectors. All REST helpers return an `Api_response`, or None when the request itself
fails: there is no answer, or no workers are deployed yet.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from penstock.client.connect import encode
from penstock.client.credentials import Credentials
from penstock.client.errors import ConnectError
from penstock.client.layer_state import read_state, update_state
from penstock.client.transport import Transport

TIMEOUT_SECONDS = 95.0


class Api_response(NamedTuple):  # noqa: N801 (the name that upper layers know)
    """``json`` is None where the answer has no body."""

    status_code: int
    json: Any


# Between the layers


def set_worker_config(config: Mapping[str, Any]) -> None:
    """Set the workers' properties; those of the option worker-config win over them."""
    update_state(worker_config={key: _text(value) for key, value in config.items()})


def get_worker_service() -> str | None:
    """``ip:port`` of the workers' Service; None while they are not deployed."""
    found = read_state().get("service")
    return None if found is None else str(found)


def set_base_image(image: str) -> None:
    """Set the image of the workers; until then a default serves."""
    update_state(image=image)


def get_topics() -> list[str]:
    """The option ``topics``: what a sink reads that is registered without topics."""
    return list(read_state().get("topics", ()))


# REST


def register_connector(connector: Mapping[str, Any], connector_name: str) -> Api_response | None:
    """Create a connector (201) or change its config (200)."""
    config = _with_topics({key: _text(value) for key, value in connector.items()})
    return _send("PUT", connector_name, "config", json=config)


def unregister_connector(connector_name: str) -> Api_response | None:
    """Delete a connector (204); its offsets stay."""
    return _send("DELETE", connector_name)


def list_connectors() -> Api_response | None:
    """The names of all connectors (200)."""
    return _send("GET")


def connector_status(connector_name: str) -> Api_response | None:
    """The states of a connector and its tasks (200)."""
    return _send("GET", connector_name, "status")


def connector_restart(connector_name: str) -> Api_response | None:
    """Restart a connector (204)."""
    return _send("POST", connector_name, "restart")


def connector_pause(connector_name: str) -> Api_response | None:
    """Pause a connector (202)."""
    return _send("PUT", connector_name, "pause")


def connector_resume(connector_name: str) -> Api_response | None:
    """Resume a connector (202)."""
    return _send("PUT", connector_name, "resume")


def connector_stop(connector_name: str) -> Api_response | None:
    """Stop a connector (204); its offsets can then be altered."""
    return _send("PUT", connector_name, "stop")


def list_tasks(connector_name: str) -> Api_response | None:
    """The tasks of a connector (200)."""
    return _send("GET", connector_name, "tasks")


def connector_offsets(connector_name: str) -> Api_response | None:
    """The offsets of a connector (200)."""
    return _send("GET", connector_name, "offsets")


def alter_connector_offsets(
    connector_name: str, offsets: Sequence[Mapping[str, Any]]
) -> Api_response | None:
    """Set offsets of a stopped connector (200)."""
    body = {"offsets": [dict(entry) for entry in offsets]}
    return _send("PATCH", connector_name, "offsets", json=body)


def reset_connector_offsets(connector_name: str) -> Api_response | None:
    """Forget all offsets of a stopped connector (200)."""
    return _send("DELETE", connector_name, "offsets")


def _with_topics(config: dict[str, str]) -> dict[str, str]:
    """With the option's topics, for a sink that names none."""
    topics = get_topics()
    named = {"topics", "topics.regex"} & config.keys()
    if topics and not named and _is_sink(config.get("connector.class", "")):
        return {**config, "topics": ",".join(topics)}
    return config


def _is_sink(wanted: str) -> bool:
    found = _request("GET", "/connector-plugins")
    plugins = found.json if found is not None and isinstance(found.json, list) else []
    return any(plugin["type"] == "sink" and _names(plugin["class"], wanted) for plugin in plugins)


def _names(known: str, wanted: str) -> bool:
    """Whether ``wanted`` is the class, its last part, or that without Connector."""
    short = known.rpartition(".")[2]
    return wanted in (known, short, short.removesuffix("Connector"))


def _send(method: str, name: str | None = None, *rest: str, **options: Any) -> Api_response | None:
    parts = ["/connectors", *([] if name is None else [encode(name)]), *rest]
    return _request(method, "/".join(parts), **options)


def _request(method: str, path: str, **options: Any) -> Api_response | None:
    service = get_worker_service()
    if service is None:
        return None
    try:
        return _asked(service, method, path, **options)
    except ConnectError:
        return None


def _asked(service: str, method: str, path: str, **options: Any) -> Api_response:
    state = read_state()
    scheme = state.get("scheme", "http")
    with tempfile.TemporaryDirectory() as folder:
        ca_file = Path(folder) / "ca.crt"
        ca_file.write_text(state.get("ca", ""), encoding="utf-8")
        credentials = Credentials(
            token=state.get("token", ""), ca_file=str(ca_file) if state.get("ca") else ""
        )
        transport = Transport(f"{scheme}://{service}", TIMEOUT_SECONDS, credentials)
    try:
        answer = transport.send(method, path, **options)
    finally:
        transport.close()
    try:
        return Api_response(answer.status_code, answer.json() if answer.content else None)
    except ValueError:
        return Api_response(answer.status_code, None)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
