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
PROVIDER = "org.apache.kafka.common.config.provider.FileConfigProvider"

Views = Annotated[
    int, typer.Option("--views", min=10, max=1_000_000, help="Pageviews to make and join.")
]
Keep = Annotated[
    bool, typer.Option("--keep", help="Leave the scratch folder to look at afterwards.")
]


def demo(views: Views = 1000, keep: Keep = False) -> None:
    """Join a stream of pageviews with users kept in PostgreSQL, in SQL, exactly once.

    Starts Kafka, PostgreSQL and a worker in a scratch folder and on free ports, and removes it
    again; your own files and workers are not touched. Exit code 0: all checks passed.
    """
    folder = Path(tempfile.mkdtemp(prefix="penstock-demo-"))
    log_to(folder)
    done = False
    try:
        _run(folder, views)
        done = True
    finally:
        _tidy(folder, keep=keep or not done)


def _run(folder: Path, views: int) -> None:
    from penstock.cli.demo.database import UsersDatabase
    from penstock.cli.demo.story import Story
    from penstock.cli.service import Service

    began = time.monotonic()
    providers = {
        "config.providers": "file",
        "config.providers.file.class": PROVIDER,
        "config.providers.file.param.allowed.paths": str(folder),
    }
    with EndingSignals() as signals:
        service = Service(providers, folder / "data", port=0)
        database = UsersDatabase(folder)
        try:
            service.serve()
            with starting("Starting Kafka, PostgreSQL and a worker") as progress:
                service.start(progress)
                progress("PostgreSQL")
                database.start()
            console().print(f"All are up after {time.monotonic() - began:.1f} s.")
            story = Story(service, database, views)
            story.tell()
        finally:
            signals.ending(STOP_SECONDS)
            service.stop()
            database.stop()
    story.sum_up(time.monotonic() - began)


def _tidy(folder: Path, *, keep: bool) -> None:
    if keep:
        say(f"Files and logs are in {escape(str(folder))}")
    else:
        shutil.rmtree(folder, ignore_errors=True)
