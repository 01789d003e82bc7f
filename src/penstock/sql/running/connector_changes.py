"""Statements that change connectors. They go to Kafka Connect and leave no trace elsewhere."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from penstock.config.near_misses import near_misses
from penstock.logs.secrets import SHORTEST_ELSEWHERE, scrub
from penstock.runtime.validation.secret_keys import sounds_secret
from penstock.sdk.errors import PenstockError
from penstock.sql.connecting.classes import installed_class
from penstock.sql.connecting.connect_api import Connect, status_of
from penstock.sql.connecting.names import connector_named
from penstock.sql.connecting.templates import expanded
from penstock.sql.errors import AlreadyExists, StatementError
from penstock.sql.running.results import Result, framed, message, warning
from penstock.sql.statements import connectors as co

SinkKeys = Callable[[str], Mapping[str, str]]
"""From the name of a stream or table to the keys that make a sink read it."""
Config = dict[str, str]
METHOD_MISSING = (404, 405)


def create(connect: Connect, statement: co.CreateConnector, sink_keys: SinkKeys) -> Result:
    """Validate, field by field, then create."""
    taken = {name.lower(): name for name in connect.connectors()}.get(statement.name.lower())
    if taken is not None:
        if statement.if_not_exists:
            return warning(f"Connector {taken} already exists")
        raise AlreadyExists(f"Connector {taken} already exists")
    config = _config(connect, statement, sink_keys)
    hints = _validated(connect, config)
    info = _accepted(connect, statement.name, config)
    done = _created(statement, info)
    return Result(done.entity, done.parts, tuple(hints))


def _accepted(connect: Connect, name: str, config: Config) -> Mapping[str, Any]:
    """Its info; what Kafka Connect says when it refuses may quote a secret."""
    try:
        return connect.create(name, config)
    except PenstockError as error:
        secrets = _secrets(config)
        if any(secret in str(error) for secret in secrets):
            raise StatementError(scrub(str(error), secrets)) from None
        raise


def _secrets(config: Config) -> list[str]:
    return [v for k, v in config.items() if sounds_secret(k) and len(v) >= SHORTEST_ELSEWHERE]


def _created(statement: co.CreateConnector, info: Mapping[str, Any]) -> Result:
    told = {
        "name": statement.name,
        # The rest of the config may hold secrets, of which Kafka Connect itself hides none.
        "config": {"connector.class": info.get("config", {}).get("connector.class", "")},
        "tasks": info.get("tasks", []),
        "type": statement.kind,
    }
    if statement.external:
        return framed(f"{statement.kind.upper()} CREATED", "connector_info", info=told)
    return message(f"Created connector {statement.name}", "connector_info", info=told)


def _config(connect: Connect, statement: co.CreateConnector, sink_keys: SinkKeys) -> Config:
    given = {key: value for key, value in statement.properties if value is not None}
    given.pop("name", None)
    if "connector.class" not in given:
        raise StatementError("The config has no connector type: WITH needs 'connector.class'.")
    if not given["connector.class"].strip():
        raise StatementError("Connector type cannot be empty: 'connector.class' has no value.")
    named = installed_class(connect, given["connector.class"].strip(), statement.kind)
    given["connector.class"] = named
    return {"name": statement.name, **_reading(statement, given, sink_keys), **expanded(given)}


def _reading(
    statement: co.CreateConnector, given: Mapping[str, str], sink_keys: SinkKeys
) -> Mapping[str, str]:
    if statement.source is None:
        return {}
    if statement.kind != "sink":
        raise StatementError("FROM is for sinks: a source reads from outside of Kafka.")
    told = sorted({"topics", "topics.regex"} & given.keys())
    if told:
        raise StatementError(f"Give either FROM {statement.source} or '{told[0]}', not both.")
    return sink_keys(statement.source)


def _validated(connect: Connect, config: Config) -> list[str]:
    """Hints about keys that are probably misspelt; StatementError with each field's errors."""
    configs = connect.validate(config["connector.class"], config)["configs"]
    lines = [
        f"  {info['value']['name']} - {error}"
        for info in configs
        for error in info["value"]["errors"]
    ]
    if lines:
        raise StatementError(scrub("Validation error:\n" + "\n".join(lines), _secrets(config)))
    known = [info["value"]["name"] for info in configs if info.get("definition")]
    misses = near_misses(set(config) - {"name"}, known)
    return [f"{key} is not a key of this connector: did you mean {meant}?" for key, meant in misses]


def drop(connect: Connect, statement: co.DropConnector) -> Result:
    """Delete it. Its topics, streams, tables and offsets stay."""
    try:
        name = connector_named(connect, statement.name)
    except StatementError:
        if statement.if_exists:
            return warning(f"Connector '{statement.name}' does not exist.")
        raise
    if statement.external:
        _refuse_other_kind(connect, name, statement.kind)
        _end(connect, name, terminate=statement.terminate)
    connect.delete(name)
    if statement.external:
        return framed(f"{statement.kind.upper()} DROPPED", "drop_connector", connectorName=name)
    return message(f'Dropped connector "{name}"', "drop_connector", connectorName=name)


def _refuse_other_kind(connect: Connect, name: str, kind: str) -> None:
    found = connect.info(name).get("type")
    if found != kind:
        raise StatementError(f"{name} is a {found}: use DROP EXTERNAL {str(found).upper()}.")


def _end(connect: Connect, name: str, *, terminate: bool) -> None:
    """With TERMINATE it is stopped first; without, only one that is stopped may go."""
    if terminate:
        try:
            connect.stop(name)
        except PenstockError as error:
            if status_of(error) not in METHOD_MISSING:  # older releases only delete
                raise
        return
    state = connect.status(name)["connector"]["state"]
    if state != "STOPPED":
        raise StatementError(
            f"{name} is {state}. Add TERMINATE to stop and drop it, "
            f"or STOP CONNECTOR {name}; first."
        )


def alter(connect: Connect, statement: co.AlterConnector) -> Result:
    """Change some keys of its config in place."""
    name, changes = connector_named(connect, statement.name), dict(statement.changes)
    try:
        connect.patch_config(name, changes)
    except PenstockError as error:
        if status_of(error) != 405:
            raise
        merged = {**connect.info(name)["config"], **changes}
        connect.put_config(name, {k: v for k, v in merged.items() if v is not None})
    return message(f"Altered connector {name}", "connector_info", connectorName=name)


def change(connect: Connect, statement: co.ChangeConnector) -> Result:
    """Pause, resume, stop or restart it."""
    name = connector_named(connect, statement.name)
    options = {"include_tasks": statement.include_tasks, "only_failed": statement.only_failed}
    if statement.verb == "restart":
        connect.restart(name, **options)
    elif any(options.values()):
        raise StatementError("INCLUDE TASKS and ONLY FAILED are options of RESTART CONNECTOR.")
    else:
        {"pause": connect.pause, "resume": connect.resume, "stop": connect.stop}[statement.verb](
            name
        )
    done = {"pause": "Paused", "resume": "Resumed", "stop": "Stopped", "restart": "Restarted"}
    return message(f"{done[statement.verb]} connector {name}", connectorName=name)


def alter_offsets(connect: Connect, statement: co.AlterOffsets) -> Result:
    """Set offsets of a stopped connector."""
    name = connector_named(connect, statement.name)
    entries = [
        {"partition": _object(partition), "offset": None if offset is None else _object(offset)}
        for partition, offset in statement.offsets
    ]
    return message(connect.alter_offsets(name, entries), connectorName=name)


def _object(text: str | None) -> Any:
    try:
        found = json.loads(text or "")
    except ValueError as error:
        raise StatementError(f"{text} is not JSON ({error}): write '{{\"key\": value}}'.") from None
    if not isinstance(found, dict):
        raise StatementError(f"{text} is not a JSON object: write '{{\"key\": value}}'.")
    return found


def reset_offsets(connect: Connect, statement: co.ResetOffsets) -> Result:
    """Forget all offsets of a stopped connector."""
    name = connector_named(connect, statement.name)
    return message(connect.reset_offsets(name), connectorName=name)
