"""`penstock demo`: the story runs, checks itself, and leaves nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import psutil
import pytest


@pytest.mark.heavy
def test_the_demo(tmp_path: Path) -> None:
    # Not below tmp_path, which is closed to others: root's PostgreSQL runs as another user.
    with tempfile.TemporaryDirectory(prefix="penstock-test-") as folder:
        scratch = Path(folder)
        scratch.chmod(0o711)
        run_the_demo(tmp_path, scratch)


def run_the_demo(tmp_path: Path, scratch: Path) -> None:
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PENSTOCK_")}
    environment = {
        **clean,
        "TMPDIR": str(scratch),
        "PENSTOCK_STATE_DIR": str(tmp_path / "state"),
        "PENSTOCK_DATA_DIR": str(tmp_path / "data"),
        "COLUMNS": "300",
    }
    told = subprocess.run(
        [sys.executable, "-m", "penstock", "demo", "--views", "300"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=environment,
    )
    assert told.returncode == 0, told.stdout + told.stderr
    for part in (
        "300 pageviews joined with users of PostgreSQL and written back:",
        "none lost, none twice.",
        "One offset altered: exactly 3 pageviews came again.",
        "SOURCE CREATED",
        "TABLE CREATED",
        "SINK CREATED",
        "Augusta",
        "kafka_offset",
        "python -m penstock up   a worker of your own",  # as it was called here
    ):
        assert part in told.stdout
    assert "Traceback" not in told.stdout + told.stderr
    assert list(scratch.glob("penstock-demo-*")) == []
    assert not (tmp_path / "data").exists()
    assert not _processes_of(scratch)


def _processes_of(folder: Path) -> list[list[str]]:
    commands = [p.info["cmdline"] or [] for p in psutil.process_iter(["cmdline"])]
    return [command for command in commands if any(str(folder) in part for part in command)]
