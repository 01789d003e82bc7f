"""Strimzi's own way with offsets: ``strimzi.io/connector-offsets`` and ConfigMaps."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from penstock.client import ConnectClient, ConnectError
from penstock.operator.calls import (
    CHANGING_SINCE,
    LISTING_SINCE,
    endpoint_call,
    explain,
    or_none,
)
from penstock.operator.conditions import Condition, warning
from penstock.operator.errors import InvalidResource, Unready
from penstock.operator.home import Home
from penstock.operator.states import state_of

Json = dict[str, Any]
KEY = "offsets.json"
REASONS = {"list": "ListOffsets", "alter": "AlterOffsets", "reset": "ResetOffsets"}
DOING = {"list": "listing", "alter": "altering", "reset": "resetting"}
MISSING = "Failed to {} the connector offsets due to missing property {} in KafkaConnector CR."
NOT_STOPPED = "Connector is not in STOPPED state"


def manage(action: str, client: ConnectClient, resource: Json, home: Home) -> Condition | None:
    """Do what the annotation asks for; a warning if that failed, and then the annotation stays."""
    if action not in REASONS:
        return warning(
            "ManageOffsets",
            f"Encountered error getting connector offsets annotation. {action} is none of list, "
            "alter and reset.",
        )
    act: Callable[[ConnectClient, Json, Home], None] = {
        "list": _list,
        "alter": _alter,
        "reset": _reset,
    }[action]
    try:
        act(client, resource, home)
    except InvalidResource as error:
        return warning(REASONS[action], str(error))
    except (ConnectError, Unready) as error:
        text = f"Encountered error {DOING[action]} connector offsets. {explain(error)}"
        return warning(REASONS[action], text)
    return None


def _list(client: ConnectClient, resource: Json, home: Home) -> None:
    place = _config_map(resource, "list", "listOffsets", "toConfigMap")
    name = resource["metadata"]["name"]
    found = endpoint_call(client, "list offsets", LISTING_SINCE, lambda: client.offsets_text(name))
    home.write_config_map(place, KEY, json.dumps(json.loads(found), indent=2))


def _alter(client: ConnectClient, resource: Json, home: Home) -> None:
    place = _config_map(resource, "alter", "alterOffsets", "fromConfigMap")
    name = resource["metadata"]["name"]
    body = _offsets_in(home.config_map(place), resource, place)
    _require_stopped(client, name)
    endpoint_call(
        client, "alter offsets", CHANGING_SINCE, lambda: client.alter_offsets_text(name, body)
    )


def _reset(client: ConnectClient, resource: Json, _: Home) -> None:
    name = resource["metadata"]["name"]
    _require_stopped(client, name)
    endpoint_call(client, "reset offsets", CHANGING_SINCE, lambda: client.reset_offsets(name))


def _config_map(resource: Json, verb: str, field: str, direction: str) -> str:
    try:
        return str(resource["spec"][field][direction]["name"])
    except (KeyError, TypeError):
        raise InvalidResource(MISSING.format(verb, field)) from None


def _offsets_in(data: dict[str, str] | None, resource: Json, place: str) -> str:
    fetching = "Encountered error fetching offsets to use in alter operation."
    if data is None:
        namespace = resource["metadata"].get("namespace", "")
        raise Unready(f"{fetching} ConfigMap {namespace}/{place} does not exist.")
    if KEY not in data:
        raise Unready(f"{fetching} Data field {KEY} is missing.")
    try:
        json.loads(data[KEY])
    except ValueError as error:
        raise Unready(f"Failed to parse contents of {KEY} as JSON: {error}") from error
    return data[KEY]


def _require_stopped(client: ConnectClient, name: str) -> None:
    if state_of(or_none(lambda: client.status(name)) or {}) != "STOPPED":
        raise Unready(NOT_STOPPED)
