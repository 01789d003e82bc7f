"""Start-up: from the command to the first healthy answer."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from bench.bed import Bed
from bench.penstock_worker import start_penstock
from bench.rest_worker import RestWorker
from bench.results import CONNECT, RowResult
from bench.rounds import interleaved
from bench.row import Row

FRESH = "penstock up, new"
AGAIN = "penstock up, again"
EMBEDDED = "penstock up with its own broker, new"
EMBEDDED_AGAIN = "penstock up with its own broker, again"


def start_up(bed: Bed) -> RowResult:
    """Ours and theirs on the running broker; ours alone with a broker of its own too."""
    brokers = bed.connection.bootstrap_servers
    seconds(bed.new_kafka_connect())  # What both read from disk is in memory from now on.
    known, known_with_broker = bed.folder / "again", bed.folder / "again-embedded"
    seconds(start_penstock(known, "again", brokers))
    seconds(start_penstock(known_with_broker, "embedded", None))
    figures = interleaved(
        bed.scale.rounds,
        {
            FRESH: lambda: seconds(bed.new_penstock()),
            CONNECT: lambda: seconds(bed.new_kafka_connect()),
            AGAIN: lambda: seconds(start_penstock(known, "again", brokers)),
            EMBEDDED: partial(_embedded, bed),
            EMBEDDED_AGAIN: lambda: seconds(start_penstock(known_with_broker, "embedded", None)),
        },
        bed.say,
    )
    return RowResult(
        unit="s",
        sides=figures,
        notes=[
            "Until GET /health says healthy. Spark is started later, by the first turn.",
            "New: the worker's topics have to be made; again: it finds them, and its data folder.",
        ],
    )


ROWS = (Row("start-up", "Start until healthy", start_up),)


def seconds(worker: RestWorker) -> float:
    """How long it took to start; ends it."""
    worker.stop()
    return worker.start_seconds


def _embedded(bed: Bed) -> float:
    name = bed.name("embedded")
    folder: Path = bed.folder / name
    return seconds(start_penstock(folder, name, None))
