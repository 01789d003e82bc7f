"""Idle connectors whose source tells of changes by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import MagicMock

import pytest

from penstock.runtime.running.scheduler import Scheduler
from penstock.runtime.running.source_runner import SourceRunner
from penstock.sdk.connectors import SourceConnector
from penstock.sdk.offsets import OffsetReader


class Quiet(SourceConnector):
    """Never has anything new, and cannot tell."""

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [{}]

    def look(self, offsets: OffsetReader) -> bool:
        return False


class Telling(Quiet):
    """Tells of changes."""

    def __init__(self) -> None:
        self.wakes: list[Callable[[], None]] = []

    def wake_on_news(self, wake: Callable[[], None]) -> None:
        self.wakes.append(wake)


@pytest.fixture
def runner() -> Iterator[Any]:
    runner = SourceRunner.__new__(SourceRunner)
    runner.name = "files"
    runner.context = MagicMock(scheduler=Scheduler(1))
    runner.context.scheduler.wake = MagicMock()
    runner.context.worker.__getitem__.return_value = 500
    runner._pause = MagicMock()
    runner._offsets = OffsetReader  # type: ignore[method-assign]  # knows of none
    runner._running = set()
    yield runner
    runner.context.scheduler.stop()


def test_after_a_look_that_found_nothing_a_change_makes_the_next_one_come_at_once(
    runner: Any,
) -> None:
    runner._connector = telling = Telling()
    assert not runner._look().turn
    [wake] = telling.wakes
    wake()
    runner.context.scheduler.wake.assert_called_once_with(runner)


def test_while_leases_run_they_notice_by_themselves(runner: Any) -> None:
    runner._connector = telling = Telling()
    runner._look()
    runner._running = {0}
    telling.wakes[0]()
    runner.context.scheduler.wake.assert_not_called()


def test_others_are_looked_at_as_before(runner: Any) -> None:
    runner._connector = Quiet()
    assert not runner._look().turn
    runner.context.scheduler.wake.assert_not_called()
