"""How commands that need no worker reach the brokers."""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.discovery import BootstrapServers, find_bootstrap_servers
from penstock.cli.output import warn
from penstock.cli.properties import read_properties

if TYPE_CHECKING:
    from confluent_kafka import KafkaError

    from penstock.kafka.clients import Connection

ANSWER_SECONDS = 8.0
LISTEN_SECONDS = 0.1

CommandConfig = Annotated[
    Path | None,
    typer.Option(
        "--command-config",
        metavar="FILE",
        envvar="PENSTOCK_COMMAND_CONFIG",
        help="Settings of the Kafka client (security.protocol, sasl.*, ssl.*), as a properties "
        "file. Its bootstrap.servers is used unless --bootstrap-servers is given.",
        show_default=False,
    ),
]

__all__ = ["BootstrapServers", "CommandConfig", "connection_to", "reached", "settings_in"]


def reached(bootstrap_servers: str | None, command_config: Path | None) -> Connection:
    """How to reach the brokers, which have just answered; BrokerUnavailable if they did not."""
    from penstock.kafka.clients import FEW

    connection = connection_to(bootstrap_servers, command_config)
    return replace(connection, few_brokers=_brokers_that_answer(connection) <= FEW)


def connection_to(bootstrap_servers: str | None, command_config: Path | None) -> Connection:
    """How to reach the brokers, without having tried."""
    from penstock.kafka.clients import Connection

    quieten()
    given = settings_in(command_config)
    servers = find_bootstrap_servers(bootstrap_servers or given.pop("bootstrap.servers", None))
    return Connection(servers, _settings(given))


def quieten() -> None:
    """What Kafka's clients log is not for the user of a command: errors are reported otherwise."""
    for name in ("penstock", "kafka"):
        logging.getLogger(name).addHandler(logging.NullHandler())


def settings_in(file: Path | None) -> dict[str, str]:
    """What the file of --command-config says."""
    if file is None:
        return {}
    return read_properties(file, what="the settings in", option="--command-config")


def _settings(properties: dict[str, str]) -> dict[str, str]:
    from penstock.runtime.config.worker_clients import common_settings

    if not properties:
        return {}
    settings, ignored = common_settings(properties)
    if ignored:
        warn(f"--command-config: {', '.join(sorted(ignored))} is not a setting of this client.")
    return settings


def _brokers_that_answer(connection: Connection) -> int:
    from confluent_kafka import KafkaException

    from penstock.kafka import clients

    heard: list[KafkaError] = []
    admin = clients.admin(connection, error_cb=heard.append)
    deadline = time.monotonic() + ANSWER_SECONDS
    asked = admin.describe_cluster(request_timeout=ANSWER_SECONDS)
    while True:
        try:
            return len(asked.result(LISTEN_SECONDS).nodes)
        except (KafkaException, TimeoutError) as error:
            # What it has heard, it tells only when asked, and maybe after the request has failed.
            admin.poll(LISTEN_SECONDS if asked.done() else 0)
            _refuse_strangers(connection, heard)
            if (asked.done() and heard) or time.monotonic() > deadline + 2:
                raise _unanswered(connection, heard) from error


def _refuse_strangers(connection: Connection, heard: list[KafkaError]) -> None:
    """Wrong credentials stay wrong: the client would try for ever."""
    from penstock.kafka.errors import BrokerUnavailable

    for error in heard:
        if error.code() == error._AUTHENTICATION:
            raise BrokerUnavailable(
                f"The brokers at {connection.bootstrap_servers} refuse to authenticate us "
                f"({error.str()}). Check the name and the password in --command-config."
            )


def _unanswered(connection: Connection, heard: list[KafkaError]) -> Exception:
    from penstock.kafka.errors import BrokerUnavailable

    # The first says why, the later ones that it is still so.
    why = f" ({heard[0].str()})" if heard else ""
    return BrokerUnavailable(
        f"No Kafka broker answered at {connection.bootstrap_servers} within "
        f"{ANSWER_SECONDS:.0f} s{why}. Check --bootstrap-servers, --command-config, and that "
        "the brokers run."
    )
