"""`penstock pause|resume|stop|restart connector`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from penstock.cli.discovery import Url, connect
from penstock.cli.get import ConnectorName
from penstock.cli.output import say
from penstock.client import ConnectClient, wait_for_state

Wait = Annotated[
    float,
    typer.Option(min=0, help="Seconds to wait until it is so; 0 does not wait."),
]


def _verb(name: str, summary: str) -> typer.Typer:
    return typer.Typer(name=name, help=summary, no_args_is_help=True)


pausing = _verb("pause", "Let a connector rest, with its tasks kept.")
resuming = _verb("resume", "Let a paused or stopped connector go on.")
stopping = _verb("stop", "Shut a connector's tasks down; its offsets can be altered then.")
restarting = _verb("restart", "Restart a connector or its tasks.")
apps = (pausing, resuming, stopping, restarting)


@pausing.command("connector")
def pause(name: ConnectorName, url: Url = None, wait: Wait = 30) -> None:
    """Let a connector rest, with its tasks kept."""
    _change(url, name, ConnectClient.pause, "PAUSED", wait)


@resuming.command("connector")
def resume(name: ConnectorName, url: Url = None, wait: Wait = 30) -> None:
    """Let a paused or stopped connector go on, from its offsets."""
    _change(url, name, ConnectClient.resume, "RUNNING", wait)


@stopping.command("connector")
def stop(name: ConnectorName, url: Url = None, wait: Wait = 30) -> None:
    """Shut a connector's tasks down; its offsets can be altered then."""
    _change(url, name, ConnectClient.stop, "STOPPED", wait)


@restarting.command("connector")
def restart(
    name: ConnectorName,
    url: Url = None,
    include_tasks: Annotated[
        bool, typer.Option("--include-tasks", help="Its tasks too, not just the connector.")
    ] = False,
    only_failed: Annotated[
        bool, typer.Option("--only-failed", help="Only what has FAILED.")
    ] = False,
) -> None:
    """Restart a connector and, if asked, its tasks."""
    with connect(url) as client:
        client.restart(name, include_tasks=include_tasks, only_failed=only_failed)
    say(f"Connector {name} is restarting.")


def _change(
    url: str | None,
    name: str,
    ask: Callable[[ConnectClient, str], None],
    state: str,
    seconds: float,
) -> None:
    with connect(url) as client:
        ask(client, name)
        if seconds:
            wait_for_state(client, name, state, seconds)
    say(f"Connector {name} is {state}." if seconds else f"Connector {name} will be {state}.")
