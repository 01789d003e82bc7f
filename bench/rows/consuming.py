"""Named consumers: ours against a plain loop of the client, and the command against kcat."""

from __future__ import annotations

import filecmp
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bench.bare_loop import copy
from bench.bed import Bed
from bench.child import Child
from bench.results import RowResult, Target
from bench.rounds import interleaved
from bench.row import Row
from bench.topic import Topic

NAMED = "penstock, named, automatic"
SIDES = {
    NAMED: "named",
    "confluent-kafka, poll() loop": "plain",
    "confluent-kafka, consume(1000) loop": "plain_batches",
    "penstock, named, batches()": "named_batches",
    "penstock, named, arrow_batches()": "named_arrow",
}
RAW = "penstock consume -o raw"
KCAT = "kcat"
NO_KCAT = "kcat is not installed: `apt-get install kcat`, or build it"


def library(bed: Bed) -> RowResult:
    """Every side reads the whole topic under a name of its own, in one process for all."""
    topic, size = _filled(bed)
    with Child("bench.read_loops", bed.connection.bootstrap_servers) as child:

        def rate(loop: str) -> float:
            question = f"{loop} {topic.name} {bed.scale.lines} {bed.name('reader')}"
            seconds, read = child.ask(question).split()
            if int(read) != size:
                raise RuntimeError(f"{loop} read {read} bytes of {size}")
            return bed.scale.lines / float(seconds)

        sides = {side: partial(rate, loop) for side, loop in SIDES.items()}
        rate("plain")
        rate("named")
        figures = interleaved(bed.scale.rounds, sides, bed.say)
    return RowResult(
        unit="records/s",
        sides=figures,
        targets=[Target("confluent-kafka, poll() loop", at_least=0.9)],
        notes=[
            "From the making of the consumer until it is closed: joining, reading and the last "
            "commit are all in it.",
            "Both commit by themselves: the client every 5 s, ours every 10 s, and on close.",
        ],
    )


def command(bed: Bed) -> RowResult:
    """The whole command, its start included, into a file."""
    if shutil.which(KCAT) is None:
        raise RuntimeError(NO_KCAT)
    topic, _ = _filled(bed)
    brokers = bed.connection.bootstrap_servers
    penstock = [str(Path(sys.executable).with_name("penstock")), "consume", topic.name]
    ours = [*penstock, "-B", "-d", "--bootstrap-servers", brokers]
    theirs = [KCAT, "-C", "-b", brokers, "-t", topic.name, "-o", "beginning", "-e", "-q"]
    commands: dict[str, Callable[[], list[str]]] = {
        RAW: lambda: [*ours, "-o", "raw"],
        KCAT: lambda: theirs,
        f"{RAW} -c NAME": lambda: [*ours, "-o", "raw", "-c", bed.name("reader")],
        "penstock consume": lambda: ours,
    }
    files = {side: bed.folder / f"read-{number}" for number, side in enumerate(commands)}
    sides = {
        side: partial(_rate, made, files[side], bed.scale.lines) for side, made in commands.items()
    }
    for run in sides.values():
        run()
    figures = interleaved(bed.scale.rounds, sides, bed.say)
    if not all(filecmp.cmp(files[KCAT], file, shallow=False) for file in files.values()):
        raise RuntimeError("not every side has printed the same")
    return RowResult(
        unit="records/s",
        sides=figures,
        targets=[Target(KCAT, at_least=1.0)],
        notes=[
            "The whole command, from its start to its end, into a file; what all have written is "
            "compared.",
            *_starts(bed, ours, theirs),
        ],
    )


ROWS = (
    Row("consume-library", "Reading a topic under a name", library),
    Row("consume-command", "Reading a topic on the command line", command),
)


def _filled(bed: Bed) -> tuple[Topic, int]:
    """A topic with the lines of a file, and how many bytes they are."""
    lines = bed.lines(bed.scale.lines)
    topic = bed.topic()
    copy(bed.connection.bootstrap_servers, topic.name, lines.path)
    return topic, lines.payload_bytes


def _rate(made: Callable[[], list[str]], file: Path, records: int) -> float:
    return records / _seconds(made(), file)


def _seconds(arguments: list[str], file: Path) -> float:
    with file.open("wb") as out:
        began = time.perf_counter()
        subprocess.run(arguments, check=True, stdout=out)
        return time.perf_counter() - began


def _starts(bed: Bed, ours: list[str], theirs: list[str]) -> list[str]:
    """What a command costs that prints one record."""
    one = bed.folder / "one"
    mine = min(_seconds([*ours, "-n", "1", "-o", "raw"], one) for _ in range(3))
    other = min(_seconds([*theirs, "-c", "1"], one) for _ in range(3))
    return [f"One record: {mine:.2f} s here, {other:.2f} s with kcat."]
