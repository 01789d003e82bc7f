"""The REST API, a method for every endpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from penstock.client.advice import CHECK_ADDRESS
from penstock.client.credentials import ANONYMOUS, Credentials
from penstock.client.errors import ConnectApiError
from penstock.client.transport import Transport

Json = dict[str, Any]

# Kafka Connect gives up on a request after 90 s; before that its answer is worth waiting for.
TIMEOUT_SECONDS = 95.0


class ConnectClient:
    """Talks to one worker. Thread-safe; close it, or use it in a with statement.

    Every method may raise ConnectApiError (the worker answered with an error) or
    WorkerUnreachable (no answer; a change may or may not have happened, and all but
    `create` and `restart` may simply be repeated).
    """

    def __init__(
        self, url: str, timeout: float = TIMEOUT_SECONDS, *, credentials: Credentials = ANONYMOUS
    ) -> None:
        self._transport = Transport(url, timeout, credentials)
        self._call = self._transport.call

    @property
    def url(self) -> str:
        """Where the worker is."""
        return self._transport.url

    def __enter__(self) -> ConnectClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def root(self) -> Json:
        """``version``, ``commit`` and ``kafka_cluster_id``; of Penstock also its own version."""
        return _object(self._call("GET", "/"))

    def health(self) -> Json:
        """``status`` (healthy, starting or unhealthy) and ``message``."""
        response = self._transport.send("GET", "/health")
        try:
            return _object(response.json())
        except ValueError as error:
            raise ConnectApiError(response.status_code, "no health in the answer").advising(
                CHECK_ADDRESS
            ) from error

    def loggers(self) -> dict[str, Json]:
        """All loggers by name, each with ``level`` and ``last_modified``."""
        return _object(self._call("GET", "/admin/loggers"))

    def logger(self, name: str) -> Json:
        """``level`` and ``last_modified`` (ms, or None) of one logger."""
        return _object(self._call("GET", f"/admin/loggers/{encode(name)}"))

    def set_logger_level(self, name: str, level: str) -> list[str]:
        """Set the level of a logger and of those below it; the names of those that changed."""
        path = f"/admin/loggers/{encode(name)}"
        return _list(self._call("PUT", path, json={"level": level}))

    def connectors(self) -> list[str]:
        """Names of all connectors."""
        return _list(self._call("GET", "/connectors"))

    def expanded(self, *parts: str) -> dict[str, Json]:
        """All connectors with ``status``, ``info`` or both."""
        return _object(self._call("GET", "/connectors", params={"expand": list(parts)}))

    def create(
        self, name: str, config: Mapping[str, Any], initial_state: str | None = None
    ) -> Json:
        """Create a connector; its info."""
        body: Json = {"name": name, "config": dict(config)}
        if initial_state is not None:
            body["initial_state"] = initial_state
        return _object(self._call("POST", "/connectors", json=body))

    def put_config(self, name: str, config: Mapping[str, Any]) -> Json:
        """Create a connector or replace its config; its info."""
        return _object(self._call("PUT", _path(name, "config"), json=dict(config)))

    def patch_config(self, name: str, patch: Mapping[str, Any]) -> Json:
        """Change some keys of a config, None deletes one; the connector's info."""
        return _object(self._call("PATCH", _path(name, "config"), json=dict(patch)))

    def info(self, name: str) -> Json:
        """Name, config, tasks and type."""
        return _object(self._call("GET", _path(name)))

    def config(self, name: str) -> Json:
        """The config as it was sent."""
        return _object(self._call("GET", _path(name, "config")))

    def status(self, name: str) -> Json:
        """States of the connector and its tasks."""
        return _object(self._call("GET", _path(name, "status")))

    def metrics(self, name: str) -> Json:
        """Rates, times, errors, restarts and how far it is; Kafka Connect has no such thing."""
        return _object(self._call("GET", _path(name, "metrics")))

    def plan(self, name: str) -> str:
        """Spark's plan, if it is a query of Spark's; Kafka Connect has no such thing."""
        return str(_object(self._call("GET", _path(name, "plan")))["plan"])

    def tasks(self, name: str) -> list[Json]:
        """Ids and configs of its tasks."""
        return _list(self._call("GET", _path(name, "tasks")))

    def task_status(self, name: str, task: int) -> Json:
        """The state of one task."""
        return _object(self._call("GET", _path(name, "tasks", str(task), "status")))

    def topics(self, name: str) -> list[str]:
        """The topics that a connector has used."""
        found = _object(self._call("GET", _path(name, "topics")))
        return _list(found[name]["topics"])

    def reset_topics(self, name: str) -> None:
        """Forget the topics that a connector has used."""
        self._call("PUT", _path(name, "topics", "reset"))

    def delete(self, name: str) -> None:
        """Remove a connector; its offsets stay."""
        self._call("DELETE", _path(name))

    def pause(self, name: str) -> None:
        """Ask for PAUSED; the state changes later (see `wait_for_state`)."""
        self._call("PUT", _path(name, "pause"))

    def resume(self, name: str) -> None:
        """Ask for RUNNING, from PAUSED or STOPPED."""
        self._call("PUT", _path(name, "resume"))

    def stop(self, name: str) -> None:
        """Ask for STOPPED, in which offsets can be altered."""
        self._call("PUT", _path(name, "stop"))

    def restart(
        self, name: str, *, include_tasks: bool = False, only_failed: bool = False
    ) -> Json | None:
        """Restart a connector; with a flag set, its status with the parts that restart."""
        flags = {"includeTasks": include_tasks, "onlyFailed": only_failed}
        params = {key: str(value).lower() for key, value in flags.items()}
        status = self._call("POST", _path(name, "restart"), params=params)
        return None if status is None else _object(status)

    def restart_task(self, name: str, task: int) -> None:
        """Restart one task."""
        self._call("POST", _path(name, "tasks", str(task), "restart"))

    def offsets(self, name: str) -> list[Json]:
        """Offsets as ``{"partition": {...}, "offset": {...}}``, in any state."""
        return _list(_object(self._call("GET", _path(name, "offsets")))["offsets"])

    def offsets_text(self, name: str) -> str:
        """The same as the text that the worker sent (see `raw_offsets`)."""
        response = self._transport.answer("GET", _path(name, "offsets"))
        return response.content.decode("utf-8", errors="replace")

    def alter_offsets_text(self, name: str, body: str) -> str:
        """As `alter_offsets`, with a body that is sent as it is; what the worker says."""
        headers = {"Content-Type": "application/json"}
        path = _path(name, "offsets")
        return str(self._call("PATCH", path, content=body.encode(), headers=headers)["message"])

    def alter_offsets(self, name: str, offsets: Sequence[Mapping[str, Any]]) -> str:
        """Set the given partitions' offsets, None forgets one; what the worker says."""
        body = {"offsets": [dict(entry) for entry in offsets]}
        return str(self._call("PATCH", _path(name, "offsets"), json=body)["message"])

    def reset_offsets(self, name: str) -> str:
        """Forget all offsets of a stopped connector; what the worker says."""
        return str(self._call("DELETE", _path(name, "offsets"))["message"])

    def plugins(self, *, connectors_only: bool = True) -> list[Json]:
        """Installed plugins: ``class``, ``type`` and ``version``."""
        params = {"connectorsOnly": str(connectors_only).lower()}
        return _list(self._call("GET", "/connector-plugins", params=params))

    def plugin_config(self, plugin: str) -> list[Json]:
        """The config keys of a plugin."""
        return _list(self._call("GET", f"/connector-plugins/{encode(plugin)}/config"))

    def validate(self, plugin: str, config: Mapping[str, Any]) -> Json:
        """Check a config; the errors are in the answer, beside their keys."""
        path = f"/connector-plugins/{encode(plugin)}/config/validate"
        return _object(self._call("PUT", path, json=dict(config)))


def encode(part: str) -> str:
    """Encode a name for a path. Dots too: a name that is only dots would be taken for a folder."""
    return quote(part, safe="").replace(".", "%2E")


def _path(name: str, *rest: str) -> str:
    return "/".join(["/connectors", encode(name), *rest])


def _object(value: Any) -> Json:
    if not isinstance(value, dict):
        raise ConnectApiError(200, f"the worker answered {value!r} instead of an object").advising(
            CHECK_ADDRESS
        )
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ConnectApiError(200, f"the worker answered {value!r} instead of a list").advising(
            CHECK_ADDRESS
        )
    return value
