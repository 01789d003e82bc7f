"""What the shell may offer for an argument: names that the worker knows.

Completion happens while somebody types: it answers within a second, with nothing if it cannot,
and never prints.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import typer

from penstock.cli.discovery import credentials_for
from penstock.cli.running import running
from penstock.logs.levels import NUMBERS

if TYPE_CHECKING:
    from penstock.client import ConnectClient

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


def level_names() -> list[str]:
    """The log levels."""
    return list(NUMBERS)


def _ask(ctx: typer.Context, ask: Callable[[ConnectClient], Iterable[str]]) -> list[str]:
    try:
        from penstock.client import ConnectClient

        url = _url(ctx)
        with ConnectClient(url, ANSWER_SECONDS, credentials=credentials_for(url)) as client:
            return sorted(set(ask(client)))
    except Exception:  # noqa: BLE001 (the line that somebody types is no place for any error)
        return []


def _url(ctx: typer.Context) -> str:
    given = ctx.params.get("url") or os.environ.get("PENSTOCK_URL")
    return str(given or running()[0].url)
