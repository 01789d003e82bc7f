"""Penstock without the extra `worker`: no Spark, no REST API."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import requires
from pathlib import Path

import pytest

from blocked_modules import blocking
from penstock.cli.doctor.requirements import parse
from penstock.cli.extras import extra_with, how_to_install

WITH_OTHERS = {"anyio", "pydantic"}
"""What httpx and typer bring along."""


@pytest.fixture
def without_worker(tmp_path: Path) -> dict[str, str]:
    """The environment of a Python in which only `penstock` is installed."""
    stated = [text for text in requires("penstock") or [] if "worker" in text]
    needed = {required.name for text in stated if (required := parse(text))}
    assert {"pyspark", "fastapi"} <= needed
    blocked = blocking(tmp_path / "blocked", *sorted(needed - WITH_OTHERS))
    return {**os.environ, "PYTHONPATH": blocked}


def test_client_consumers_and_commands_can_be_imported(without_worker: dict[str, str]) -> None:
    code = (
        "import penstock.client, penstock.consumers, penstock.sdk, penstock.deploy, sys\n"
        "from penstock.cli import main\n"
        "print(main.__module__, 'pyspark' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=without_worker,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("penstock.cli.main False\n", "")


def test_a_worker_that_is_not_installed_is_told_how_to_get(
    without_worker: dict[str, str], tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "penstock", "up", "--data-dir", str(tmp_path / "data")],
        env=without_worker,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert 'Run: pip install "penstock[worker]"' in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("module", "extra"),
    [
        ("pyspark.sql", "worker"),
        ("kopf", "operator"),
        ("ops", "charm"),
        ("httpx", None),
        ("nothing", None),
    ],
)
def test_which_extra_brings_it(module: str, extra: str | None) -> None:
    assert extra_with(module) == extra


def test_what_no_extra_brings_is_a_defect() -> None:
    assert how_to_install(ModuleNotFoundError("x", name="nothing")) is None
