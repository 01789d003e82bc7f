"""Rule 5: a producer is reused only by the process that committed the task's previous lease."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from penstock.client import ConnectClient
from penstock.runtime.worker import Worker
from runners import resting
from topics import Topics, numbers_of
from waiting import eventually


def test_a_lease_that_lands_in_another_python_worker(
    connectors: ConnectClient,
    scripted,
    topics: Topics,
    worker: Worker,
    name: str,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Leases of one task wander over the idle Python workers, and none of them is ever lost."""
    caplog.set_level(logging.INFO, "penstock.runtime.runner")
    limit = tmp_path / "limit"
    scripted(tasks_max=1, limit_file=limit)
    companion = f"{name}-companion"
    connectors.create(
        companion,
        {"connector.class": "ScriptedSource", "topic": companion, "tasks.max": "3", "count": "5"},
    )
    eventually(lambda: len(topics.values(companion)) == 15, what="three more Python workers")

    rounds = 8
    for i in range(1, rounds + 1):
        limit.write_text(str(10 * i))
        eventually(lambda: len(topics.values(name)) == 10 * i, what=f"round {i}")  # noqa: B023
        eventually(lambda: resting(worker, name), what=f"the end of lease {i}")

    processes = [m.key() for m in topics.messages(name)]
    assert len(set(processes)) >= 2, "the leases all ran in one process: nothing was tested"
    assert numbers_of(topics.values(name), 0) == list(range(10 * rounds))
    lost = [r.getMessage() for r in caplog.records if f"{name}-0: lost" in r.getMessage()]
    assert lost == []
