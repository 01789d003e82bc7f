"""A worker that is killed, or frozen, between writing a turn and putting it in its place."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.embedded import EmbeddedBroker, Java
from penstock.engine.frames.ranges import TurnPlan
from penstock.engine.frames.turn import Outcome, Read, by_own_reader
from penstock.kafka.clients import Connection
from penstock.kafka.range_reader import Range
from plain_spark import plain_spark
from spark_turns import run_sink
from turning_process import NUMBERS

pytestmark = pytest.mark.heavy
SUPPORT = Path(__file__).parents[2] / "support"
Start = Callable[[TurnPlan], subprocess.Popen[str]]


@pytest.fixture
def plan(topic: str, tmp_path: Path) -> TurnPlan:
    return TurnPlan(0, (Range(topic, 0, 0, 6), Range(topic, 1, 0, 4)), str(tmp_path / "out"), "c")


@pytest.fixture
def start(tmp_path: Path, broker: EmbeddedBroker, java: Java) -> Iterator[Start]:
    """Another worker, of epoch 1, that has written a turn when this returns."""
    made: list[subprocess.Popen[str]] = []

    def start(plan: TurnPlan) -> subprocess.Popen[str]:
        script = [sys.executable, str(SUPPORT / "turning_process.py")]
        with (tmp_path / "spark.log").open("w") as log:
            process = subprocess.Popen(
                [*script, plan.to_json(), broker.bootstrap_servers, "1"],
                env=plain_spark(tmp_path / "spark", java),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
            )
        made.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "written\n", (tmp_path / "spark.log").read_text()
        return process

    yield start
    for process in made:
        _kill(process)
        process.communicate()


def _kill(process: subprocess.Popen[str]) -> None:
    """With its JVM and what that has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


@pytest.fixture
def read(connection: Connection) -> Read:
    return by_own_reader(connection)


def _numbers(folder: Path) -> list[int]:
    lines = [
        line for file in folder.glob("turn=*/*.json") for line in file.read_text().splitlines()
    ]
    return sorted(json.loads(line)["n"] for line in lines)


EVERY = [*range(6), *range(100, 104)]


def test_killed_before_the_rename(
    spark: SparkSession, start: Start, plan: TurnPlan, read: Read, tmp_path: Path
) -> None:
    _kill(start(plan))
    assert _numbers(tmp_path / "out") == [], "it had written, but nothing was in its place"
    assert run_sink(spark, plan, NUMBERS, read, worker_epoch=2) is Outcome.WRITTEN
    assert _numbers(tmp_path / "out") == EVERY
    frame = spark.read.json(str(tmp_path / "out"))
    assert sorted(row.n for row in frame.collect()) == EVERY, "Spark skips what was left aside"


def test_frozen_before_the_rename_and_thawed_behind_its_heir(
    spark: SparkSession, start: Start, plan: TurnPlan, read: Read, tmp_path: Path
) -> None:
    frozen = start(plan)
    os.killpg(frozen.pid, signal.SIGSTOP)
    assert run_sink(spark, plan, NUMBERS, read, worker_epoch=2) is Outcome.WRITTEN
    before = {file: file.read_bytes() for file in (tmp_path / "out").glob("turn=*/*.json")}
    os.killpg(frozen.pid, signal.SIGCONT)
    told, _ = frozen.communicate("go on\n", timeout=120)
    assert told.splitlines() == [Outcome.HAPPENED_BEFORE.name]
    after = {file: file.read_bytes() for file in (tmp_path / "out").glob("turn=*/*.json")}
    assert (before, _numbers(tmp_path / "out")) == (after, EVERY)
