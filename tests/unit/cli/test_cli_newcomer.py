"""What stopped newcomers: each says now what is the matter."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from penstock.cli.main import describe_error
from penstock.cli.program import as_typed
from penstock.cli.running import Running
from penstock.consumers import Consumer
from penstock.consumers import consumer as consumer_module
from penstock.kafka.errors import BrokerUnavailable
from penstock.runtime.errors import NotFound

Run = Callable[..., Any]

STOPPED: dict[str, Any] = {"connector": {"state": "STOPPED", "worker_id": "w"}, "tasks": []}
RUNNING: dict[str, Any] = {
    "connector": {"state": "RUNNING", "worker_id": "w", "trace": "Starting Spark."},
    "tasks": [{"id": 0, "state": "RUNNING", "worker_id": "w"}],
}
AT_5 = {"partition": {"filename": "f"}, "offset": {"position": 5}}


def test_a_second_up_on_one_folder(run: Run, home: Path) -> None:
    Running.here("http://127.0.0.1:8083", "127.0.0.1:9", home / "data").write()
    result = run("up", "--data-dir", str(home / "data"))
    assert result.code == 1
    assert f"already running on {home / 'data'}: process {os.getpid()}" in result.err
    assert "http://127.0.0.1:8083" in result.err


@pytest.mark.parametrize(
    ("program", "on_path", "typed"),
    [
        (".venv/bin/penstock", False, ".venv/bin/penstock"),
        (".venv/bin/penstock", True, "penstock"),
        ("my tools/penstock", False, "'my tools/penstock'"),
    ],
)
def test_commands_are_shown_as_they_must_be_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, on_path: bool, typed: str
) -> None:
    file = tmp_path / program
    file.parent.mkdir(parents=True)
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [program])
    monkeypatch.setenv("PATH", str(file.parent) if on_path else "/nowhere")
    assert as_typed() == typed


@pytest.mark.parametrize("module", ["typer", "rich.console", "penstock.cli.main"])
def test_an_early_ctrl_c_leaves_no_traceback(module: str) -> None:
    program = f"""
import sys
class Interrupt:
    def find_spec(self, name, *_):
        if name == {module!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupt())
from penstock.cli import main
main(["--version"])
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (130, "")


def test_one_full_stop_is_enough() -> None:
    assert (
        describe_error(NotFound("It is gone.. Look ... there..")) == "It is gone. Look ... there."
    )


def test_logs_of_a_connector_that_nothing_is_known_of(run: Run, home: Path) -> None:
    (home / "penstock.log").write_text("2026-11-16 10:00:00,000 INFO [a|worker] x: started\n")
    known = run("logs", "--data-dir", str(home), "--connector", "a")
    assert (known.out.count("started"), known.err) == (1, "")
    unknown = run("logs", "--data-dir", str(home), "--connector", "b")
    assert "has no line about connector b" in unknown.err
    assert "penstock get connectors" in unknown.err


def test_a_dead_broker_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumer_module, "Session", Mock(side_effect=BrokerUnavailable("silence")))
    with pytest.raises(BrokerUnavailable, match=r"No broker answered at 127.0.0.1:1 \(silence\)"):
        Consumer("orders", bootstrap_servers="127.0.0.1:1").open()


@pytest.fixture
def worker(herder: Mock, url: str, monkeypatch: pytest.MonkeyPatch) -> Mock:
    monkeypatch.setenv("PENSTOCK_URL", url)
    return herder


def test_wait_for_offsets_tells_what_is_waited_for(run: Run, worker: Mock) -> None:
    worker.status.return_value = RUNNING
    worker.offsets.side_effect = [{"offsets": []}, {"offsets": []}, {"offsets": [AT_5]}]
    result = run("wait", "connector", "n", "--for", "offsets")
    assert (result.code, result.out) == (0, "Connector n has offsets.\n")
    assert result.err == "Starting Spark.\n"


def test_wait_for_a_state(run: Run, worker: Mock) -> None:
    worker.status.return_value = STOPPED
    assert run("wait", "connector", "n", "--for", "stopped").out == "Connector n is STOPPED.\n"
    late = run("wait", "connector", "n", "--timeout", "0")
    assert late.code == 1
    assert "Timed out after 0 s waiting for connector n to be RUNNING" in late.err


def test_wait_ends_with_the_trace_of_what_failed(run: Run, worker: Mock) -> None:
    failed = {"state": "FAILED", "worker_id": "w", "trace": "The disk is full."}
    worker.status.return_value = {"connector": failed, "tasks": []}
    result = run("wait", "connector", "n", "--for", "offsets")
    assert (result.code, "The disk is full." in result.err) == (1, True)
