"""Calls to a worker as the operator makes them: patient where that helps, plain about the rest."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

from penstock.client import ConnectApiError, ConnectClient, ConnectError, WorkerUnreachable
from penstock.operator.errors import TooOld

T = TypeVar("T")
Json = dict[str, Any]
TRIES = 6
FIRST_PAUSE_SECONDS = 0.2
LISTING_SINCE, STOPPING_SINCE, CHANGING_SINCE = "3.5", "3.5", "3.6"


def patiently(call: Callable[[], T]) -> T:
    """What ``call`` returns; tried again, for some seconds, while the workers rebalance."""
    pause = FIRST_PAUSE_SECONDS
    for _ in range(TRIES - 1):
        try:
            return call()
        except ConnectApiError as error:
            if not is_rebalance(error):
                raise
        time.sleep(pause)
        pause *= 2
    return call()


def is_rebalance(error: ConnectApiError) -> bool:
    """Whether to ask again is all that has to be done."""
    return error.status == 409 or (error.status == 500 and "rebalance is expected" in error.message)


def or_none(call: Callable[[], T]) -> T | None:
    """What ``call`` returns, None if the worker does not know the connector."""
    try:
        return patiently(call)
    except ConnectApiError as error:
        if error.status == 404:
            return None
        raise


def endpoint_call(client: ConnectClient, what: str, since: str, call: Callable[[], T]) -> T:
    """What ``call`` returns; TooOld where the worker has no such endpoint."""
    try:
        return patiently(call)
    except ConnectApiError as error:
        if lacks_endpoint(error):
            raise TooOld(_too_old(client, what, since)) from error
        raise


def lacks_endpoint(error: ConnectApiError) -> bool:
    """A worker that knows the path but not the connector says so in other words."""
    unknown_path = error.status == 404 and error.message.startswith("HTTP 404")
    return error.status == 405 or unknown_path


def _too_old(client: ConnectClient, what: str, since: str) -> str:
    try:
        version = client.root().get("version", "")
    except ConnectError:
        version = ""
    return (
        f"This Kafka Connect{f' (version {version})' if version else ''} is too old to {what}: "
        f"that needs Kafka Connect {since} or newer. Upgrade the cluster's workers."
    )


def explain(error: Exception) -> str:
    """An error as a status tells it."""
    if isinstance(error, WorkerUnreachable):
        return f"No answer from the Connect cluster at {error.url}. Are its workers running?"
    return str(error)
