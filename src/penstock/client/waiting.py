"""Waiting for what a worker does after it has answered: states change later than requests end."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

from penstock.client.connect import ConnectClient
from penstock.client.errors import (
    ConnectApiError,
    ConnectorFailed,
    WaitTimeout,
    WorkerUnreachable,
)

T = TypeVar("T")


def wait_until(
    condition: Callable[[], T | None], what: str, timeout: float = 60.0, interval: float = 0.2
) -> T:
    """Call ``condition`` until it gives something true, and return that.

    WaitTimeout, which names ``what``, once ``timeout`` seconds are over; errors of the condition
    pass through. The condition is called at least once.
    """
    deadline = time.monotonic() + timeout
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() >= deadline:
            raise WaitTimeout(f"Timed out after {timeout:g} s waiting for {what}.")
        time.sleep(interval)


def wait_for_health(client: ConnectClient, timeout: float = 60.0) -> None:
    """Return once the worker says that it is healthy; it need not even run yet."""
    heard = {"message": "no answer"}

    def healthy() -> bool:
        try:
            heard.update(client.health())
        except WorkerUnreachable:
            return False
        return heard.get("status") == "healthy"

    try:
        wait_until(healthy, "the worker", timeout)
    except WaitTimeout as error:
        raise WaitTimeout(f"{error} Last answer: {heard['message']}") from None


def wait_for_state(
    client: ConnectClient, name: str, state: str, timeout: float = 60.0
) -> dict[str, Any]:
    """Return the status of a connector once it and all its tasks are in ``state``.

    RUNNING needs a task; STOPPED is reached without any. ConnectorFailed with the trace at once
    when something turned FAILED, unless that is the state waited for.
    """

    def reached() -> dict[str, Any] | None:
        status = _status(client, name)
        if state != "FAILED":
            _raise_if_failed(name, status)
        return status if _is_in(status, state) else None

    return wait_until(reached, f"connector {name} to be {state}", timeout)


def raise_if_failed(client: ConnectClient, name: str) -> None:
    """ConnectorFailed with the trace when a connector or a task of it is FAILED."""
    _raise_if_failed(name, _status(client, name))


def _status(client: ConnectClient, name: str) -> dict[str, Any]:
    try:
        return client.status(name)
    except ConnectApiError as error:
        # A connector has no status in its first moments.
        if error.status == 404:
            return {}
        raise


def _is_in(status: dict[str, Any], state: str) -> bool:
    if state == "STOPPED":
        return _state(status) == state and not status["tasks"]
    tasks = status.get("tasks") or []
    if state == "FAILED":
        return any(part["state"] == state for part in _parts(status))
    return _state(status) == state and bool(tasks) and all(t["state"] == state for t in tasks)


def _state(status: dict[str, Any]) -> str:
    return str(status.get("connector", {}).get("state", ""))


def _parts(status: dict[str, Any]) -> list[dict[str, Any]]:
    return [status["connector"], *status["tasks"]] if status else []


def _raise_if_failed(name: str, status: dict[str, Any]) -> None:
    for part in _parts(status):
        if part["state"] == "FAILED":
            which = f"Task {part['id']} of connector" if "id" in part else "Connector"
            raise ConnectorFailed(f"{which} {name} has FAILED: {part.get('trace', 'no trace')}")
