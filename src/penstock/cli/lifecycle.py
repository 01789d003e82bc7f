"""`penstock pause`, `resume`, `stop` and `restart`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.commands import group
from penstock.cli.completion import task_ids
from penstock.cli.connector_names import ConnectorNames, meant
from penstock.cli.discovery import Url, connect
from penstock.cli.output import say
from penstock.cli.restarted import still_failed, what_restarts
from penstock.sdk.errors import UserError

if TYPE_CHECKING:
    from penstock.client import ConnectClient

Wait = Annotated[
    float,
    typer.Option(min=0, help="Seconds to wait for it; 0 does not wait."),
]


pausing = group("Pause connectors; their tasks are kept.", name="pause")
resuming = group("Resume paused or stopped connectors.", name="resume")
stopping = group("Stop connectors, so that offsets can be altered.", name="stop")
restarting = group("Restart connectors or their tasks.", name="restart")


@pausing.command("connector")
def pause(names: ConnectorNames, url: Url = None, wait: Wait = 30) -> None:
    """Pause connectors; their tasks are kept."""
    _change(url, names, "pause", "PAUSED", wait)


@resuming.command("connector")
def resume(names: ConnectorNames, url: Url = None, wait: Wait = 30) -> None:
    """Resume paused or stopped connectors, from their offsets."""
    _change(url, names, "resume", "RUNNING", wait)


@stopping.command("connector")
def stop(names: ConnectorNames, url: Url = None, wait: Wait = 30) -> None:
    """Stop connectors: their tasks end, and their offsets can be altered."""
    _change(url, names, "stop", "STOPPED", wait)


@restarting.command("connector")
def restart(
    names: ConnectorNames,
    url: Url = None,
    include_tasks: Annotated[
        bool, typer.Option("--include-tasks", help="Their tasks too, not just the connectors.")
    ] = False,
    only_failed: Annotated[
        bool,
        typer.Option("--only-failed", help="Only what has FAILED, tasks included."),
    ] = False,
) -> None:
    """Restart connectors and, if asked, their tasks."""
    with connect(url) as client:
        for name in meant(client, names):
            say(_restarted(client, name, include_tasks or only_failed, only_failed=only_failed))


def _restarted(client: ConnectClient, name: str, include_tasks: bool, *, only_failed: bool) -> str:
    planned = client.restart(name, include_tasks=include_tasks, only_failed=only_failed)
    if planned is not None:
        return what_restarts(name, planned)
    left = [task["state"] for task in client.status(name)["tasks"]].count("FAILED")
    return f"Connector {name} is restarting." + (still_failed(left) if left else "")


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
    task_id: Annotated[
        str | None,
        typer.Argument(metavar="ID", help="The number, if NAME came without it: orders 0."),
    ] = None,
    url: Url = None,
) -> None:
    """Restart one task of a connector."""
    name, _, number = task.rpartition("/") if task_id is None else (task, "", task_id)
    if not name or not number.isdecimal():
        given = task if task_id is None else f"{task} {task_id}"
        raise UserError(f"'{given}' is not a task: write the connector and a number, as orders/0.")
    with connect(url) as client:
        client.restart_task(name, int(number))
    say(f"Task {number} of connector {name} is restarting.")


def _change(url: str | None, names: list[str], verb: str, state: str, seconds: float) -> None:
    """All are asked before any is waited for."""
    from penstock.client import wait_for_state

    with connect(url) as client:
        wanted = meant(client, names)
        for name in wanted:
            getattr(client, verb)(name)
        for name in wanted:
            if seconds:
                wait_for_state(client, name, state, seconds)
            say(f"Connector {name} {'is' if seconds else 'will be'} {state}.")
