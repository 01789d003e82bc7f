"""`penstock up`: everything in the foreground."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from penstock.cli.logs import log_to
from penstock.cli.output import console, warn
from penstock.cli.paths import default_data_dir
from penstock.cli.program import as_typed
from penstock.cli.progress import starting
from penstock.cli.properties import read_properties
from penstock.cli.running import Running, running
from penstock.cli.signals import EndingSignals
from penstock.sdk.errors import UserError

if TYPE_CHECKING:
    from penstock.cli.service import Service

STOP_SECONDS = 9.5

DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data-dir",
        envvar="PENSTOCK_DATA_DIR",
        file_okay=False,
        help="Folder for Kafka's data, logs and scratch files.",
        show_default="~/.local/share/penstock",
    ),
]
Port = Annotated[
    int | None,
    typer.Option(
        "--port",
        min=0,
        max=65535,
        help="Port of the REST API; 0 takes a free one.",
        show_default="8083, or that of listeners in --worker-config",
    ),
]
Host = Annotated[
    str | None,
    typer.Option(
        "--host",
        help="Address of the REST API. Any but a loopback address requires users and TLS "
        "(rest.auth.users.file, rest.ssl.* in --worker-config).",
        show_default="127.0.0.1, or that of listeners in --worker-config",
    ),
]
Insecure = Annotated[
    bool,
    typer.Option(
        "--insecure",
        help="Let anyone who can reach --host use the REST API, without users or TLS, and let "
        "Spark's connections be neither authenticated nor encrypted.",
    ),
]
KafkaPort = Annotated[
    int | None,
    typer.Option(
        "--kafka-port",
        min=1,
        max=65535,
        help="Port of the embedded Kafka.",
        show_default="a free one",
    ),
]
Brokers = Annotated[
    str | None,
    typer.Option(
        "--bootstrap-servers",
        envvar="PENSTOCK_BOOTSTRAP_SERVERS",
        help="Use these Kafka brokers, host:port,... instead of an embedded one.",
        show_default=False,
    ),
]
WorkerConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--worker-config",
        dir_okay=False,
        help="Properties file of the worker, as Kafka Connect has it; options override it.",
        show_default=False,
    ),
]
Master = Annotated[
    str | None,
    typer.Option(
        "--master",
        help="Spark master: local[8], spark://host:7077, ...",
        show_default="local, with a few slots per core",
    ),
]
SparkUi = Annotated[
    bool,
    typer.Option(
        "--spark-ui",
        help="Start Spark's web UI, on a port of its own without any login. `GET /` and the log "
        "say where it is.",
    ),
]
LogLevel = Annotated[
    str | None,
    typer.Option(
        "--log-level",
        envvar="PENSTOCK_LOG_LEVEL",
        help="Log this level and above: TRACE, DEBUG, INFO, WARN, ERROR, FATAL or OFF. "
        "`penstock patch logger` changes it later.",
        show_default="INFO",
    ),
]
LogFormat = Annotated[
    str | None,
    typer.Option(
        "--log-format",
        envvar="PENSTOCK_LOG_FORMAT",
        help="Form of the log: text, or json with one object per line.",
        show_default="text",
    ),
]


def up(
    *,
    data_dir: DataDir = None,
    host: Host = None,
    port: Port = None,
    insecure: Insecure = False,
    kafka_port: KafkaPort = None,
    bootstrap_servers: Brokers = None,
    worker_config: WorkerConfigFile = None,
    master: Master = None,
    spark_ui: SparkUi = False,
    log_level: LogLevel = None,
    log_format: LogFormat = None,
) -> None:
    """Run a worker with everything it needs, in the foreground.

    Kafka is embedded unless you give brokers. Connectors, data and offsets are kept in the data
    folder and in Kafka: the next start goes on where this one stopped. Ctrl-C or SIGTERM stops it
    cleanly, a second Ctrl-C at once.
    """
    options = {
        "bootstrap.servers": bootstrap_servers,
        "spark.master": master,
        "spark.ui.enabled": "true" if spark_ui else None,
        "log.level": log_level,
        "log.format": log_format,
    }
    serve(
        worker_properties(worker_config, options),
        worker_folder(data_dir),
        (host, port),
        kafka_port,
        insecure=insecure,
    )


def serve(
    properties: Mapping[str, str],
    folder: Path,
    place: tuple[str | None, int | None],
    kafka_port: int | None = None,
    *,
    insecure: bool = False,
) -> None:
    """Run a worker until a signal ends it; ConfigError if its properties are wrong."""
    from penstock.cli.service import Service
    from penstock.runtime.config.listeners import chosen_listener

    refuse_second(folder)
    host, port = chosen_listener(properties, *place)
    with EndingSignals() as signals:
        log = log_to(folder, properties)
        service = Service(properties, folder, port, kafka_port, host, insecure=insecure)
        if insecure:
            warn(f"--insecure: anyone who can reach {service.url} may do anything there.")
        try:
            run(service, folder, log)
        except KeyboardInterrupt:
            console().print("Stopping ...")
        finally:
            signals.ending(STOP_SECONDS)
            end(service, folder)
    console().print("Stopped.")


def refuse_second(folder: Path) -> None:
    """UserError if a worker runs on this folder already: its port would be taken, and more."""
    for worker in running():
        if worker.data_dir == str(folder):
            raise UserError(
                f"Penstock is already running on {folder}: process {worker.pid}, {worker.url}. "
                "Use that one, stop it (Ctrl-C, or `kill` with its number), or run a second one "
                "with another --data-dir and --port."
            )


def worker_folder(given: Path | None) -> Path:
    """The data folder: the option's, else the default one."""
    return (given or default_data_dir()).expanduser().absolute()


def worker_properties(file: Path | None, options: Mapping[str, str | None]) -> dict[str, str]:
    """The worker's config: its file, then what the options say."""
    properties = read_properties(file) if file else {}
    return {**properties, **{key: value for key, value in options.items() if value}}


def run(service: Service, folder: Path, log: Path) -> None:
    """Start, tell where everything is, and wait for a signal."""
    service.serve()
    _note(service, folder).write()
    with starting("Starting Penstock") as progress:
        service.start(progress)
    _note(service, folder).write()
    announce(console(), service, folder, log)
    threading.Event().wait()


def end(service: Service, folder: Path) -> None:
    """Take everything down again."""
    _note(service, folder).remove()
    service.stop()


def _note(service: Service, folder: Path) -> Running:
    return Running.here(
        service.url, service.bootstrap_servers, folder, service.token, service.certificate
    )


def announce(out: Console, service: Service, folder: Path, log: Path) -> None:
    """Say where everything is and what to type next."""
    out.print("[bold green]Penstock is running.[/]")
    for label, place in (
        ("REST", service.url),
        ("Kafka", service.bootstrap_servers),
        ("Data", str(folder)),
        ("Log", str(log)),
    ):
        out.print(f"  {label:<6} {place}", markup=False, soft_wrap=True)
    out.print("Next, in another terminal:")
    for command in ("get plugins", "apply -f FILE", "get connectors"):
        out.print(f"  {as_typed()} {command}", markup=False, soft_wrap=True, style="bold")
    out.print("Ctrl-C stops it.")
