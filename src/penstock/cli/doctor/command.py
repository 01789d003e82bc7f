"""`penstock doctor`: the command."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.markup import escape

from penstock.cli.doctor.asked import Asked, Config
from penstock.cli.doctor.examination import examine
from penstock.cli.doctor.findings import Finding, Status
from penstock.cli.doctor.report import as_objects, closing, exit_code, lines, marks_for
from penstock.cli.output import Format, Output, console, print_objects
from penstock.cli.running import running
from penstock.cli.up import (
    Brokers,
    DataDir,
    KafkaPort,
    Port,
    WorkerConfigFile,
    worker_folder,
)

STYLES = {Status.OK: "green", Status.WARNING: "yellow", Status.FAILED: "bold red"}

Timeout = Annotated[
    float, typer.Option("--timeout", min=0.1, max=60, help="Seconds to wait for the brokers.")
]


def doctor(
    *,
    data_dir: DataDir = None,
    port: Port = None,
    kafka_port: KafkaPort = None,
    bootstrap_servers: Brokers = None,
    worker_config: WorkerConfigFile = None,
    timeout: Timeout = 5.0,
    output: Output = Format.TABLE,
) -> None:
    """Check whether this machine can run Penstock.

    Give it the options that you give to `penstock up`. It looks at Python and its packages, Java,
    jars, memory, disk, ports, the data folder, the brokers, who may use their topics, and the
    clock. It changes nothing and starts nothing, and says what to do about each problem. Exit
    code 0: ready, perhaps with warnings; 1: something needs fixing.
    """
    config = Config.read(worker_config, bootstrap_servers)
    asked = Asked(
        data_dir=worker_folder(data_dir),
        port=config.port if port is None else port,
        kafka_port=kafka_port,
        config=config,
        timeout=timeout,
        workers=tuple(running()),
    )
    findings = examine(asked)
    if not print_objects(output, as_objects(findings)):
        _print(findings, asked.own_worker.url if asked.own_worker else "")
    raise typer.Exit(exit_code(findings))


def _print(findings: list[Finding], url: str) -> None:
    out = console()
    marks = marks_for(sys.stdout.encoding)
    for finding in findings:
        mark = marks[finding.status]
        first, *rest = lines(finding, mark)
        style = STYLES[finding.status]
        out.print(f"[{style}]{mark}[/]{escape(first.removeprefix(mark))}", soft_wrap=True)
        for line in rest:
            out.print(line, markup=False, soft_wrap=True)
    out.print()
    out.print(closing(findings, url), markup=False, soft_wrap=True)
