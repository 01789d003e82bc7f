"""Which worker and which brokers a command talks to.

First what the command line says, then the environment (both arrive here as ``given``, since the
options name their variables), then the context that `penstock config` has chosen, then the worker
that `penstock up` runs on this machine.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.contexts import current_context
from penstock.cli.output import warn
from penstock.cli.running import Running, running
from penstock.sdk.errors import UserError

if TYPE_CHECKING:
    from penstock.client import ConnectClient, Credentials

Url = Annotated[
    str | None,
    typer.Option(
        "--url",
        envvar="PENSTOCK_URL",
        help="REST address of the worker. Default: that of the context (`penstock config`), else "
        "of the worker that `penstock up` runs here.",
        show_default=False,
    ),
]
BootstrapServers = Annotated[
    str | None,
    typer.Option(
        "--bootstrap-servers",
        envvar="PENSTOCK_BOOTSTRAP_SERVERS",
        help="Kafka brokers, host:port,... Default: those of the context (`penstock config`), else "
        "of the worker that `penstock up` runs here.",
        show_default=False,
    ),
]


def connect(given: str | None) -> ConnectClient:
    """A client of the worker to talk to."""
    from penstock.client import ConnectClient

    url = find_url(given)
    return ConnectClient(url, credentials=credentials_for(url))


def credentials_for(url: str) -> Credentials:
    """What to tell the worker at ``url``: the environment's, else what its context says, else what
    `up` noted for this user.

    Secrets are never taken from arguments, which every user of a machine can list.
    """
    from penstock.client import Credentials

    token, ca_file = _known_credentials(url.rstrip("/"))
    return Credentials(
        token=os.environ.get("PENSTOCK_TOKEN") or token,
        ca_file=os.environ.get("PENSTOCK_CA_FILE") or ca_file,
        certificate=os.environ.get("PENSTOCK_CLIENT_CERTIFICATE", ""),
        key=os.environ.get("PENSTOCK_CLIENT_KEY", ""),
    )


def _known_credentials(url: str) -> tuple[str, str]:
    """A token and the certificates to trust, each perhaps empty."""
    context = current_context()
    if context.url.rstrip("/") == url:
        return context.token, context.ca_file
    known = next((worker for worker in running() if worker.url == url), None)
    return (known.token, known.certificate) if known else ("", "")


def find_url(given: str | None) -> str:
    """The worker's REST address."""
    return given or current_context().url or _newest("worker", "--url", "PENSTOCK_URL").url


def find_bootstrap_servers(given: str | None) -> str:
    """The brokers' addresses."""
    if given or (given := current_context().bootstrap_servers):
        return given
    worker = _newest("broker", "--bootstrap-servers", "PENSTOCK_BOOTSTRAP_SERVERS")
    if not worker.bootstrap_servers:
        raise UserError(f"The worker at {worker.url} is starting and has no broker yet. Try again.")
    return worker.bootstrap_servers


def _newest(what: str, option: str, variable: str) -> Running:
    found = running()
    if not found:
        raise UserError(
            f"No {what} found. Start one with `penstock up`, or say where it is with {option}, "
            f"{variable} or `penstock config set`."
        )
    if len(found) > 1:
        warn(f"{len(found)} workers run here; talking to the newest, {found[0].url} ({option})")
    return found[0]
