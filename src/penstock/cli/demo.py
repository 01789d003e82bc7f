"""`penstock demo`: the whole story on a scratch folder, ended by itself."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from penstock.cli.logs import log_to
from penstock.cli.output import console, say
from penstock.cli.progress import starting
from penstock.cli.signals import EndingSignals

STOP_SECONDS = 15.0

Lines = Annotated[
    int, typer.Option("--lines", min=10, max=10_000_000, help="Lines of the file to move.")
]
Keep = Annotated[
    bool, typer.Option("--keep", help="Leave the scratch folder for a look at it afterwards.")
]


def demo(lines: Lines = 200_000, keep: Keep = False) -> None:
    """Move a file through Kafka into a file, exactly once, then replay a part of it.

    Starts everything in a scratch folder and on free ports, and removes it again; your own files
    and workers are not touched. Exit code 0: all checks passed.
    """
    folder = Path(tempfile.mkdtemp(prefix="penstock-demo-"))
    log_to(folder)
    done = False
    try:
        _run(folder, lines)
        done = True
    finally:
        _tidy(folder, keep=keep or not done)


def _run(folder: Path, lines: int) -> None:
    from penstock.cli.demo_story import Story
    from penstock.cli.service import Service

    began = time.monotonic()
    with EndingSignals() as signals:
        service = Service({}, folder / "data", port=0)
        try:
            service.serve()
            with starting("Starting Kafka and a worker") as progress:
                service.start(progress)
            console().print(f"Kafka and a worker are up after {time.monotonic() - began:.1f} s.")
            story = Story(service.url, service.bootstrap_servers, folder, lines)
            story.tell()
        finally:
            signals.ending(STOP_SECONDS)
            service.stop()
    story.sum_up(time.monotonic() - began)


def _tidy(folder: Path, *, keep: bool) -> None:
    if keep:
        say(f"Files and logs are in {escape(str(folder))}")
    else:
        shutil.rmtree(folder, ignore_errors=True)
