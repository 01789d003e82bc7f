"""`penstock pause|resume|stop|restart connector`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.completion import task_ids
from penstock.cli.discovery import Url, connect
from penstock.cli.get import ConnectorName
from penstock.cli.output import say
from penstock.sdk.errors import UserError

if TYPE_CHECKING:
    from penstock.client import ConnectClient

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
    _change(url, name, lambda client: client.pause(name), "PAUSED", wait)


@resuming.command("connector")
def resume(name: ConnectorName, url: Url = None, wait: Wait = 30) -> None:
    """Let a paused or stopped connector go on, from its offsets."""
    _change(url, name, lambda client: client.resume(name), "RUNNING", wait)


@stopping.command("connector")
def stop(name: ConnectorName, url: Url = None, wait: Wait = 30) -> None:
    """Shut a connector's tasks down; its offsets can be altered then."""
    _change(url, name, lambda client: client.stop(name), "STOPPED", wait)


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


@restarting.command("task")
def restart_task(
    task: Annotated[
        str,
        typer.Argument(
            metavar="NAME/ID",
            help="The connector's name and the task's number, e.g. orders/0.",
            autocompletion=task_ids,
        ),
    ],
    url: Url = None,
) -> None:
    """Restart one task of a connector."""
    name, _, number = task.rpartition("/")
    if not name or not number.isdecimal():
        raise UserError(f"'{task}' names no task: write the connector and a number, as orders/0.")
    with connect(url) as client:
        client.restart_task(name, int(number))
    say(f"Task {number} of connector {name} is restarting.")


def _change(
    url: str | None,
    name: str,
    ask: Callable[[ConnectClient], None],
    state: str,
    seconds: float,
) -> None:
    from penstock.client import wait_for_state

    with connect(url) as client:
        ask(client)
        if seconds:
            wait_for_state(client, name, state, seconds)
    say(f"Connector {name} is {state}." if seconds else f"Connector {name} will be {state}.")
