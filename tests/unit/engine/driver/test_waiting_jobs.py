"""Turns whose jobs wait for an executor, with a Spark that only says how they are."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest

from penstock.engine.driver import frame_turns
from penstock.engine.driver.frame_turns import FrameTurns
from penstock.engine.driver.waiting_jobs import awaits_executor
from penstock.engine.frames.turn_order import TurnOutcome
from waiting import eventually


def spark(jobs: dict[int, str], active: dict[int, int]) -> Any:
    """Jobs by their status; job n has one stage n, with so many active tasks if it is known."""
    made = MagicMock()
    context = made.sparkContext
    context._jsc.sc().statusTracker().getJobIdsForTag.return_value = list(jobs)
    stages = {n: SimpleNamespace(numActiveTasks=count) for n, count in active.items()}
    infos = {n: SimpleNamespace(status=status, stageIds=[n]) for n, status in jobs.items()}
    context.statusTracker.return_value = SimpleNamespace(
        getJobInfo=infos.get, getStageInfo=stages.get
    )
    return made


@pytest.mark.parametrize(
    ("jobs", "active", "waits"),
    [
        ({}, {}, False),
        ({1: "SUCCEEDED"}, {1: 0}, False),
        ({1: "RUNNING"}, {1: 0}, True),
        ({1: "RUNNING"}, {}, True),
        ({1: "SUCCEEDED", 2: "RUNNING"}, {1: 0, 2: 1}, False),
        ({1: "RUNNING", 2: "RUNNING"}, {1: 0, 2: 1}, False),
    ],
)
def test_a_job_without_a_running_task(
    jobs: dict[int, str], active: dict[int, int], waits: bool
) -> None:
    assert awaits_executor(spark(jobs, active), "tag") is waits


def test_a_turn_is_heard_of_while_it_waits_and_no_longer_waits_once_it_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(frame_turns, "WATCH_SECONDS", 0.01)
    goes_on, done = threading.Event(), threading.Event()
    session, turn = MagicMock(), MagicMock(connector="c")
    session.get.return_value = spark({1: "RUNNING"}, {1: 0})
    turn.run.side_effect = lambda *_: goes_on.wait(20) and TurnOutcome()
    running = FrameTurns(session, MagicMock(), "").begin(turn, lambda: True, lambda _: done.set())
    eventually(lambda: running.awaits_executor, within=20)
    heard = running.heard
    eventually(lambda: running.heard > heard, within=20)
    goes_on.set()
    assert done.wait(20)
    assert not running.awaits_executor
