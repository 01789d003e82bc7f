"""What the shell may offer for an argument: names that the worker or the brokers know.

Completion happens while the user types: it answers within a second, with nothing if it cannot,
and never prints.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from penstock.cli.contexts import current_context
from penstock.cli.discovery import credentials_for
from penstock.cli.running import running
from penstock.logs.levels import NUMBERS

if TYPE_CHECKING:
    from penstock.client import ConnectClient
    from penstock.kafka.clients import Connection

ANSWER_SECONDS = 1.0


def connector_names(ctx: typer.Context) -> list[str]:
    """The connectors."""
    return _ask(ctx, lambda client: client.connectors())


def task_ids(ctx: typer.Context) -> list[str]:
    """The tasks of all connectors, as ``<connector>/<id>``."""

    def ask(client: ConnectClient) -> Iterable[str]:
        for name, entry in client.expanded("status").items():
            yield from (f"{name}/{task['id']}" for task in entry["status"]["tasks"])

    return _ask(ctx, ask)


def plugin_names(ctx: typer.Context) -> list[str]:
    """The classes of all plugins."""
    return _ask(ctx, lambda client: (p["class"] for p in client.plugins(connectors_only=False)))


def logger_names(ctx: typer.Context) -> list[str]:
    """The loggers, and those that connectors may have."""
    return _ask(
        ctx,
        lambda client: [*client.loggers(), *(f"connector.{name}" for name in client.connectors())],
    )


def topic_names(ctx: typer.Context) -> list[str]:
    """The topics of users."""

    def ask(connection: Connection) -> Iterable[str]:
        from penstock.consumers.topics_admin import is_internal

        return (topic for topic in _topics(connection) if not is_internal(topic))

    return _ask_brokers(ctx, ask)


def consumer_names(ctx: typer.Context) -> list[str]:
    """The named consumers."""

    def ask(connection: Connection) -> Iterable[str]:
        from penstock.consumers.directory import Directory
        from penstock.consumers.registry.registry import TOPIC

        # Brokers that have just answered need not be feared to take their time.
        return Directory(connection).names() if TOPIC in _topics(connection) else ()

    return _ask_brokers(ctx, ask)


def _topics(connection: Connection) -> Iterable[str]:
    from penstock.kafka import clients

    return clients.admin(connection).list_topics(timeout=ANSWER_SECONDS).topics


def _ask_brokers(ctx: typer.Context, ask: Callable[[Connection], Iterable[str]]) -> list[str]:
    try:
        from penstock.cli.brokers import connection_to

        return sorted(set(ask(connection_to(_servers(ctx), _config(ctx)))))
    except Exception:  # noqa: BLE001 (as below)
        return []


def _servers(ctx: typer.Context) -> str | None:
    given = ctx.params.get("bootstrap_servers") or os.environ.get("PENSTOCK_BOOTSTRAP_SERVERS")
    if given or _config(ctx):
        return given
    # Where discovery looks, without its warning of several.
    return current_context().bootstrap_servers or running()[0].bootstrap_servers


def _config(ctx: typer.Context) -> Path | None:
    given = ctx.params.get("command_config") or os.environ.get("PENSTOCK_COMMAND_CONFIG")
    return Path(given) if given else None


def level_names() -> list[str]:
    """The log levels."""
    return list(NUMBERS)


def _ask(ctx: typer.Context, ask: Callable[[ConnectClient], Iterable[str]]) -> list[str]:
    try:
        from penstock.client import ConnectClient

        url = _url(ctx)
        with ConnectClient(url, ANSWER_SECONDS, credentials=credentials_for(url)) as client:
            return sorted(set(ask(client)))
    except Exception:  # noqa: BLE001 (a line that is being typed is no place for an error)
        return []


def _url(ctx: typer.Context) -> str:
    given = ctx.params.get("url") or os.environ.get("PENSTOCK_URL")
    return str(given or current_context().url or running()[0].url)
