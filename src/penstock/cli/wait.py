"""`penstock wait`: until connectors are in a state, or have moved something."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.commands import group
from penstock.cli.connector_names import ConnectorNames, meant
from penstock.cli.discovery import Url, connect
from penstock.cli.output import console, say

if TYPE_CHECKING:
    from penstock.client import ConnectClient

app = group("Wait until connectors have started, moved something, ...")


class Goal(StrEnum):
    """What to wait for."""

    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"
    OFFSETS = "offsets"


@app.command("connector")
def wait_for_connector(
    names: ConnectorNames,
    *,
    goal: Annotated[
        Goal,
        typer.Option("--for", help="A state; or offsets: until something is committed."),
    ] = Goal.RUNNING,
    timeout: Annotated[float, typer.Option(min=0, help="Seconds to wait at most.")] = 120,
    url: Url = None,
) -> None:
    """Wait for connectors. One that has FAILED ends the wait with its trace and exit code 1."""
    with connect(url) as client:
        for name in meant(client, names):
            _wait(client, name, goal, timeout)


def _wait(client: ConnectClient, name: str, goal: Goal, timeout: float) -> None:
    from penstock.client import wait_for_state

    if goal is Goal.OFFSETS:
        _wait_for_offsets(client, name, timeout)
        say(f"Connector {name} has offsets.")
        return
    wait_for_state(client, name, goal.upper(), timeout)
    say(f"Connector {name} is {goal.upper()}.")


def _wait_for_offsets(client: ConnectClient, name: str, timeout: float) -> None:
    from penstock.client import raise_if_failed, wait_until

    tell = _Remarks()

    def moved() -> bool:
        raise_if_failed(client, name)
        tell(client.status(name))
        return bool(client.offsets(name))

    wait_until(moved, f"offsets of connector {name}", timeout)


class _Remarks:
    """Tells what keeps a connector waiting, each remark once."""

    def __init__(self, tell: Callable[[str], None] | None = None) -> None:
        self._tell = tell or (lambda text: console(stderr=True).print(text, markup=False))
        self._told: set[str] = set()

    def __call__(self, status: dict[str, Any]) -> None:
        for part in (status["connector"], *status["tasks"]):
            remark = str(part.get("trace", ""))
            if remark and remark not in self._told:
                self._told.add(remark)
                self._tell(remark)
