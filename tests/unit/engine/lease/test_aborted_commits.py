"""Transactions that were rolled back are made again, as long as some get through."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import pytest

from penstock.columnar.plain_converters import StringConverter
from penstock.engine.lease.heartbeats import Heartbeat, Progress
from penstock.engine.lease.lease import Limits, Membership, Tolerance
from penstock.engine.lease.pace import Pace
from penstock.engine.lease.sink_lease import MAX_ABORTS as MAX_SINK_ABORTS
from penstock.engine.lease.sink_lease import SinkLoop
from penstock.engine.lease.source_lease import MAX_ABORTS, SourceLoop
from penstock.engine.pipeline.pipeline import Pipeline
from penstock.kafka.errors import TransactionAborted
from penstock.sdk import SourceTask

ROLLED_BACK = TransactionAborted("the link was cut")


def lease(**more: Any) -> Any:
    return Mock(
        limits=Limits(),
        tolerance=Tolerance(),
        pace=Pace(),
        topic_ids={},
        consumer_settings={},
        positions=(),
        pipeline=Pipeline(StringConverter(), StringConverter()),
        membership=Membership(b"", "workers"),
        **more,
    )


def sink(commits: list[Exception | None]) -> SinkLoop:
    loop = SinkLoop(
        lease(connector="orders", group="connect-orders"),
        Mock(progress=Progress(), leases=lambda: 1, standing=lambda: None),
    )
    loop._producer = Mock()
    loop._producer.commit.side_effect = commits
    loop._commit({("t", 0): (5, "")}, 0.0)
    return loop


def test_a_sink_commits_again_what_was_rolled_back() -> None:
    loop = sink([ROLLED_BACK, ROLLED_BACK, None])
    loop._commits.settle()
    assert loop._outcome()["sink_positions"] == {("t", 0): (5, "")}
    assert loop._progress.aborts == 2


def test_a_sink_gives_up_after_some_in_a_row() -> None:
    loop = sink([ROLLED_BACK] * MAX_SINK_ABORTS)
    with pytest.raises(TransactionAborted):
        loop._commits.settle()


def test_a_sink_does_not_repeat_what_can_never_work() -> None:
    loop = sink([TransactionAborted("invalid", passing=False), None])
    with pytest.raises(TransactionAborted):
        loop._commits.settle()


class Scripted(SourceLoop):
    """Polls as its script says: ``True`` commits something, ``False`` is rolled back."""

    script: list[bool]

    def _poll_until_over(self, task: SourceTask, producer: Any) -> None:
        while self.script:
            if not self.script.pop(0):
                raise ROLLED_BACK
            self._progress.transactions += 1


def source(script: list[bool]) -> Scripted:
    heartbeat = Heartbeat()
    loop = Scripted(lease(task_class=Mock, topic_groups=(), config={}), heartbeat)
    loop.script = script
    return loop


def test_a_source_goes_on_while_some_get_through() -> None:
    loop = source([False, False, True] * MAX_ABORTS)
    loop._move_records(Mock())
    assert loop._progress.aborts == 2 * MAX_ABORTS


def test_a_source_gives_up_after_some_in_a_row() -> None:
    loop = source([True] + [False] * MAX_ABORTS + [True])
    with pytest.raises(TransactionAborted):
        loop._move_records(Mock())
    assert loop.script == [True]
