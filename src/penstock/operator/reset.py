"""The annotation ``strimzi.io/offsets-reset``: forget all offsets of a stopped connector."""

from __future__ import annotations

from penstock.client import ConnectClient, ConnectError, WaitTimeout, wait_until
from penstock.operator.calls import CHANGING_SINCE, endpoint_call, explain, or_none
from penstock.operator.conditions import Condition, condition
from penstock.operator.errors import Unready
from penstock.operator.names import RESET
from penstock.operator.states import state_of

NOT_STOPPED = (
    "The offsets were not reset: the KafkaConnector is not stopped. Set spec.state to stopped, "
    "and annotate it again."
)


def reset(client: ConnectClient, name: str, wanted: str, stop_seconds: float) -> str:
    """Do it; empty, or why it failed. Without a request unless the resource is stopped."""
    if wanted != "STOPPED":
        return NOT_STOPPED
    try:
        await_stopped(client, name, stop_seconds)
        endpoint_call(client, "reset offsets", CHANGING_SINCE, lambda: client.reset_offsets(name))
    except (ConnectError, Unready) as error:
        return f"The offsets were not reset: {explain(error)}"
    return ""


def await_stopped(client: ConnectClient, name: str, seconds: float) -> None:
    """Return once it has stopped, or when the time is over: then the worker's refusal tells it."""

    def stopped() -> bool:
        status = or_none(lambda: client.status(name)) or {}
        return state_of(status) == "STOPPED" and not status.get("tasks")

    try:
        wait_until(stopped, f"connector {name} to be STOPPED", seconds)
    except WaitTimeout:
        return


def failure(why: str) -> Condition:
    """The condition that tells of it."""
    return condition(RESET, "OffsetsResetFailed", why)
