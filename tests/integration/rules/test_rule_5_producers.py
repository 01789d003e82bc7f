"""Rule 5: a producer is reused only by the process that committed the task's previous lease."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.client import ConnectClient
from penstock.logs.levels import Kept
from penstock.logs.subject import subject_of
from penstock.runtime.worker import Worker
from runners import finish, resting
from topics import Topics, numbers_of
from waiting import eventually


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """What runners log, with what it is about."""
    caplog.set_level(logging.INFO, "penstock.runtime.running")
    with caplog.filtering(Kept()):
        yield caplog


def test_a_lease_that_lands_in_another_process(
    connectors: ConnectClient,
    scripted,
    topics: Topics,
    worker: Worker,
    name: str,
    tmp_path: Path,
    told: pytest.LogCaptureFixture,
) -> None:
    """Leases of one task go back and forth between two carriers, and none of them is ever lost."""
    limit = tmp_path / "limit"
    scripted(tasks_max=1, limit_file=limit)
    loads = worker.herder._context.engine.fleet._loads

    rounds = 8
    for i in range(1, rounds + 1):
        loads.weigh(f"{name}-0", heavy=i % 3 == 0)
        loads._loads[f"{name}-0"].cores = 0.9 if i % 3 == 0 else 0.0
        limit.write_text(str(10 * i))
        eventually(lambda: len(topics.values(name)) == 10 * i, what=f"round {i}")  # noqa: B023 (called at once)
        finish(worker, name)
        eventually(lambda: resting(worker, name), what=f"the end of lease {i}")

    processes = [m.key() for m in topics.messages(name)]
    assert len(set(processes)) >= 2, "the leases all ran in one process: nothing was tested"
    assert numbers_of(topics.values(name), 0) == list(range(10 * rounds))
    about_task = [r.getMessage() for r in told.records if subject_of(r) == (name, 0)]
    assert [text for text in about_task if text.startswith("the lease ended")] == []
