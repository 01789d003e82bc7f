"""`penstock worker`: a worker of a cluster, from its properties file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.up import (
    DataDir,
    Host,
    Insecure,
    LogFormat,
    LogLevel,
    Master,
    Port,
    serve,
    worker_folder,
)
from penstock.cli.up import worker_properties as properties_of
from penstock.sdk.errors import ConfigError

PropertiesFile = Annotated[
    Path,
    typer.Option(
        "-c",
        "--worker-config",
        dir_okay=False,
        help="Properties file, such as Kafka Connect's connect-distributed.properties.",
        show_default=False,
    ),
]


def worker(
    *,
    worker_config: PropertiesFile,
    data_dir: DataDir = None,
    host: Host = None,
    port: Port = None,
    insecure: Insecure = False,
    master: Master = None,
    log_level: LogLevel = None,
    log_format: LogFormat = None,
) -> None:
    """Run a worker on your own Kafka brokers, in the foreground.

    Its properties are Kafka Connect's; keys that have no effect here are listed in a warning.
    Workers with the same group.id are one cluster. This is `penstock up`, but without a broker of
    its own.
    """
    options = {"spark.master": master, "log.level": log_level, "log.format": log_format}
    properties = properties_of(worker_config, options)
    if not properties.get("bootstrap.servers", "").strip():
        raise ConfigError(
            'Missing required configuration "bootstrap.servers" which has no default value. Name '
            f"your Kafka brokers in {worker_config}; `penstock up` starts one itself.",
            key="bootstrap.servers",
        )
    serve(properties, worker_folder(data_dir), (host, port), insecure=insecure)
