"""`penstock sql test`: SQL files that say what must come out, run on a Kafka of their own."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from penstock.cli.brokers import settings_in

if TYPE_CHECKING:
    from penstock.sql.testing.cases import Case
    from penstock.sql.testing.runner import Outcome


def run_tests(place: Path, config: Path | None = None) -> None:
    """Print how each test ends; exit with 1 if one has failed.

    ``config`` is the file of --command-config, of which the schema registry is used.
    """
    from penstock.sql.testing.cases import cases_in

    failed = 0
    cases = cases_in(place)
    for outcome in _outcomes(cases, config):
        failed += bool(outcome.problem)
        sys.stdout.write(_told(outcome))
        sys.stdout.flush()
    sys.stdout.write(f"\n{len(cases) - failed} passed, {failed} failed\n")
    if failed:
        raise typer.Exit(1)


def _outcomes(cases: list[Case], config: Path | None) -> Iterator[Outcome]:
    from penstock.embedded import EmbeddedBroker, ensure_jars, find_java
    from penstock.kafka.clients import Connection
    from penstock.sql.avro.registry import SqlRegistry
    from penstock.sql.running.own_spark import OwnSpark
    from penstock.sql.testing.runner import run_cases

    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="penstock-sql-test-"))
        java = find_java()
        broker = EmbeddedBroker(Path(folder) / "kafka", java, ensure_jars(java))
        stack.enter_context(broker)
        spark = stack.enter_context(closing(OwnSpark(_quiet)))
        registry = SqlRegistry.of(settings_in(config))
        yield from run_cases(cases, Connection(broker.bootstrap_servers), spark, registry)


def _quiet(_: str) -> None:
    """Spark is expected here, and needs no announcement."""


def _told(outcome: Outcome) -> str:
    case = outcome.case
    if not outcome.problem:
        return f"ok    {case.file}: {case.name}\n"
    place = f"{case.file}:{outcome.line}" if outcome.line else str(case.file)
    lines = outcome.problem.strip().replace("\n", "\n      ")
    return f"FAIL  {place}: {case.name}\n      {lines}\n"
