"""Bugs that are planted in a copy of the source, each of which a few rounds must find.

A checker that has never found anything shows nothing. Each bug does its harm only when something
goes wrong at the wrong moment, as real ones do; without a bug the same rounds must pass.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from chaos.checker import LOST, TWICE
from chaos.report import REPORT, say
from scripts.mutations import ROOT, edited_source

ROUNDS, SEED = 5, 3
FAULTS = ("worker-term", "worker-kill", "python-kill")
NONE = "none"


@dataclass(frozen=True)
class Bug:
    """A bug, the edit that makes it, and how the checker must call what it does."""

    name: str
    meaning: str
    file: str
    before: str
    after: str
    kind: str


BUGS = (
    Bug(
        "offset-outside",
        "a source's offset is written outside the transaction of its records",
        "engine/lease/source_lease.py",
        "        commit = partial(self._deliver, producer, self._bytes, offsets, [])\n",
        """\
        def commit() -> None:
            from confluent_kafka import Producer

            servers = lease.connection.bootstrap_servers
            plain = Producer({"bootstrap.servers": servers, "partitioner": "murmur2_random"})
            for topic, key, value in offsets:
                plain.produce(topic, value, key)
            plain.flush(5)
            self._deliver(producer, self._bytes, [], [])

""",
        LOST,
    ),
    Bug(
        "skipped-record",
        "a source that goes on from an offset leaves the first record out",
        "engine/lease/source_lease.py",
        "                encoded = self._encoded(batch)\n",
        "                resumed = bool(self._positions) and not self._committed\n"
        "                rows = batch.records.slice(1 if resumed else 0)\n"
        "                encoded = self._encoded(SourceBatch(rows, batch.offsets))\n",
        LOST,
    ),
    Bug(
        "double-write",
        "a file sink does not cut off what it wrote and never committed",
        "plugins/files/file_sink_task.py",
        "        self._file.cut(length)\n",
        "",
        TWICE,
    ),
)
NAMES = (NONE, *(bug.name for bug in BUGS))


def main(wanted: Sequence[str]) -> int:
    """Check the wanted bugs, or all and that without one nothing is found; 0 if all is so."""
    unnoticed = [] if wanted and NONE not in wanted else _control()
    for bug in BUGS:
        if not wanted or bug.name in wanted:
            unnoticed += [] if _found(bug) else [f"{bug.name} was not found"]
    for each in unnoticed:
        say(each, "red")
    return 1 if unnoticed else 0


def _control() -> list[str]:
    violations = _violations(None)
    say(f"without a bug: {'; '.join(violations) or 'nothing found'}")
    return [f"without a bug there are {len(violations)} violations"] if violations else []


def _found(bug: Bug) -> bool:
    violations = _violations(bug)
    noticed = any(f"{bug.kind} in " in violation for violation in violations)
    say(f"{bug.name} ({bug.meaning}): {'found' if noticed else 'NOT FOUND'}")
    for violation in violations:
        say(f"  {violation[:200]}")
    return noticed


def _violations(bug: Bug | None) -> list[str]:
    with edited_source(bug) as source, tempfile.TemporaryDirectory(prefix="penstock-chaos-") as at:
        command = [
            *(sys.executable, "-m", "chaos", "--rounds", str(ROUNDS), "--seed", str(SEED)),
            *("--stop-at-first", "--folder", at, "--faults", *FAULTS),
        ]
        environment = {**os.environ, "PYTHONPATH": str(source)}
        run = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
        if not (Path(at) / REPORT).exists():
            raise SystemExit(f"chaos could not be run:\n{run.stdout[-3000:]}{run.stderr[-3000:]}")
        told = json.loads((Path(at) / REPORT).read_text())
    return [violation for each in told["rounds"] for violation in each["violations"]]
