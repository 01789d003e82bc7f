"""`penstock logs`: the log of the worker that runs on this machine, or ran here last."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, TextIO

import typer

from penstock.cli.completion import connector_names, level_names
from penstock.cli.logs import LOG_FILE
from penstock.cli.output import warn
from penstock.cli.paths import default_data_dir
from penstock.cli.running import running
from penstock.cli.up import DataDir
from penstock.logs.levels import NUMBERS
from penstock.sdk.errors import UserError

LOOK_SECONDS = 0.2

Wanted = Callable[[str], bool]


def logs(
    *,
    follow: Annotated[
        bool, typer.Option("-f", "--follow", help="Keep printing what is logged from now on.")
    ] = False,
    connector: Annotated[
        str | None,
        typer.Option(
            "--connector",
            help="Only lines about this connector and its tasks.",
            autocompletion=connector_names,
            show_default=False,
        ),
    ] = None,
    level: Annotated[
        str,
        typer.Option(
            "--level", help="Only lines of this level or above.", autocompletion=level_names
        ),
    ] = "TRACE",
    lines: Annotated[
        int, typer.Option("-n", "--lines", min=0, help="How many of the latest lines to print.")
    ] = 100,
    data_dir: DataDir = None,
) -> None:
    """Show the log of the worker that `penstock up` runs here, or ran here last."""
    if level.upper() not in NUMBERS:
        raise typer.BadParameter(f"'{level}' is not one of {', '.join(NUMBERS)}")
    file = find_log(data_dir)
    wanted = lines_about(connector, level.upper())
    with _opened(file) as log:
        found = deque(filter(wanted, log), maxlen=lines)
        for line in found:
            sys.stdout.write(line)
        sys.stdout.flush()
        if connector is not None and lines and not found:
            warn(
                f"{file} has no line about connector {connector}. `penstock get connectors` lists "
                "the connectors."
            )
        if not follow:
            return
        for line in filter(wanted, following(file, log)):
            sys.stdout.write(line)
            sys.stdout.flush()


def find_log(data_dir: Path | None) -> Path:
    """The log of the given folder, else of the newest running worker, else of the default one."""
    if data_dir is None:
        alive = running()
        data_dir = Path(alive[0].data_dir) if alive else default_data_dir()
    return data_dir.expanduser() / LOG_FILE


def _opened(file: Path) -> TextIO:
    try:
        return file.open(encoding="utf-8", errors="replace")
    except FileNotFoundError as error:
        raise UserError(
            f"No log at {file}. Start a worker with `penstock up`, or say where its data is with "
            "--data-dir."
        ) from error


def lines_about(connector: str | None, level: str) -> Wanted:
    """Whether a line, in either form of the log, is of this level and about this connector."""
    subject = ".*" if connector is None else rf"{re.escape(connector)}\|(worker|task-\d+)"
    text_line = re.compile(rf"\S+ \S+ ([A-Z]+) \[{subject}\] ")

    def wanted(line: str) -> bool:
        if line.startswith("{"):
            entry = _parsed(line)
            named = connector is None or entry.get("connector") == connector
            return named and _at_least(entry.get("level", ""), level)
        found = text_line.match(line)
        return found is not None and _at_least(found[1], level)

    return wanted


def _parsed(line: str) -> dict[str, str]:
    try:
        entry: dict[str, str] = json.loads(line)
    except ValueError:
        return {}
    return entry


def _at_least(level: str, least: str) -> bool:
    return NUMBERS.get(level, 0) >= NUMBERS[least]


def following(file: Path, log: TextIO) -> Iterator[str]:
    """Lines as they come, for ever; a log that was rotated is followed."""
    partial = ""
    while True:
        partial += log.readline()
        if partial.endswith("\n"):
            yield partial
            partial = ""
        elif _replaced(file, log):
            log.close()
            log, partial = _opened(file), ""
        else:
            time.sleep(LOOK_SECONDS)


def _replaced(file: Path, log: TextIO) -> bool:
    try:
        return file.stat().st_ino != os.fstat(log.fileno()).st_ino
    except FileNotFoundError:
        return False
