"""A worker of a run of chaos: that it ends by itself is noticed, whatever strikes it next."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from chaos.worker import Worker
from free_ports import free_port
from waiting import eventually

ABORTED = 128 + 6
Begin = Callable[[str], Worker]


@pytest.fixture
def begin(tmp_path: Path) -> Begin:
    def started(program: str) -> Worker:
        worker = Worker("worker-0", tmp_path / "worker", free_port(), {})
        worker._command = [sys.executable, "-c", program]
        worker.start()
        return worker

    return started


def test_one_that_had_aborted_when_it_was_to_be_killed(begin: Begin) -> None:
    worker = begin("import os; os.abort()")
    process = worker._process
    assert process is not None
    eventually(lambda: not process.alive(), what="its end")
    assert worker.kill() == f"worker-0 ended by itself, with code {ABORTED}"
    assert worker.own_end() is None, "told twice"


def test_one_that_runs_when_it_is_killed(begin: Begin) -> None:
    worker = begin("import time; time.sleep(600)")
    process = worker._process
    assert process is not None
    assert process.alive()
    assert worker.kill() == ""
    assert not process.alive()
    assert worker.own_end() is None
