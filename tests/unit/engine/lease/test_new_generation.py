"""Rule 3: a lease that has committed goes on under the workers' new generation; no other does."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import pytest

from penstock.columnar.plain_converters import StringConverter
from penstock.engine.lease import lease_loop
from penstock.engine.lease.heartbeats import Heartbeat
from penstock.engine.lease.lease import Limits, Membership, Tolerance
from penstock.engine.lease.lost_leases import Orphaned
from penstock.engine.lease.pace import Pace
from penstock.engine.lease.sink_lease import SinkLoop
from penstock.engine.lease.source_lease import SourceLoop
from penstock.engine.pipeline.pipeline import Pipeline
from penstock.kafka.errors import GenerationChanged
from penstock.kafka.generation import LAYOUT, MARK
from penstock.kafka.transactions import GroupOffsets
from penstock.sdk import SourceTask

REFUSED = GenerationChanged("ILLEGAL_GENERATION")


def of(generation: int) -> Membership:
    return Membership(LAYOUT.pack(MARK, generation), "workers")


class Worker:
    """The membership that it has told; the broker accepts only the newest."""

    def __init__(self) -> None:
        self.told: Membership | None = None
        self.newest = of(5)
        self.used: list[Membership] = []

    def commit(self, _records: object, groups: list[GroupOffsets]) -> None:
        used = next(m for m in map(of, range(10)) if m.metadata == groups[-1].metadata)
        self.used.append(used)
        if used != self.newest:
            raise REFUSED

    def moves_on(self) -> None:
        self.told = self.newest = of(6)


@pytest.fixture
def worker() -> Worker:
    return Worker()


@pytest.fixture
def heartbeat(worker: Worker) -> Heartbeat:
    return Heartbeat(standing=lambda: worker.told)


def lease(**more: Any) -> Any:
    return Mock(
        limits=Limits(),
        tolerance=Tolerance(),
        pace=Pace(),
        topic_ids={},
        consumer_settings={},
        positions=(),
        pipeline=Pipeline(StringConverter(), StringConverter()),
        membership=of(5),
        **more,
    )


@pytest.fixture
def sink(worker: Worker, heartbeat: Heartbeat) -> SinkLoop:
    loop = SinkLoop(lease(connector="orders", group="connect-orders"), heartbeat)
    loop._producer = Mock()
    loop._producer.commit.side_effect = worker.commit
    return loop


def put(sink: SinkLoop, end: int) -> None:
    sink._commit({("t", 0): (end, "")}, 0.0)
    sink._commits.settle()


def test_a_sink_that_has_committed_uses_the_new_membership(worker: Worker, sink: SinkLoop) -> None:
    put(sink, 1)
    worker.moves_on()
    put(sink, 2)
    assert worker.used == [of(5), of(6)]


def test_a_sink_repeats_a_commit_that_met_the_new_generation(
    worker: Worker, sink: SinkLoop
) -> None:
    put(sink, 1)
    worker.newest = of(6)  # and the lease is told only after it was refused
    refusing = worker.commit

    def refuse(records: object, groups: list[GroupOffsets]) -> None:
        try:
            refusing(records, groups)
        finally:
            worker.told = of(6)

    assert isinstance(sink._producer, Mock)
    sink._producer.commit.side_effect = refuse
    put(sink, 2)
    assert worker.used == [of(5), of(5), of(6)]
    assert sink._outcome()["sink_positions"] == {("t", 0): (2, "")}


def test_a_lease_that_has_not_committed_cannot_under_the_new_generation(
    worker: Worker, sink: SinkLoop
) -> None:
    """It may have begun from positions that another worker had already moved."""
    worker.moves_on()
    with pytest.raises(GenerationChanged):
        put(sink, 1)
    assert worker.used == [of(5)]


def test_a_lease_that_is_told_nothing_new_is_lost(
    worker: Worker, sink: SinkLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease_loop, "RENEWAL_SECONDS", 0.2)
    put(sink, 1)
    worker.told, worker.newest = of(4), of(6)  # an older one does not count
    with pytest.raises(GenerationChanged):
        put(sink, 2)
    assert worker.used == [of(5), of(5)]


def test_a_lease_that_waits_for_a_membership_ends_when_it_is_revoked(
    worker: Worker, sink: SinkLoop, heartbeat: Heartbeat
) -> None:
    put(sink, 1)
    worker.newest = of(6)
    heartbeat.orphan()
    with pytest.raises(Orphaned):
        put(sink, 2)


class Scripted(SourceLoop):
    """Each start of the task polls once: the first of them meets the new generation."""

    starts = 0

    def _poll_until_over(self, task: SourceTask, producer: Any) -> None:
        self.starts += 1
        if self.starts == 1:
            self._progress.transactions = self.committed_before
            raise REFUSED

    committed_before = 1


def source(heartbeat: Heartbeat) -> Scripted:
    return Scripted(lease(task_class=Mock, topic_groups=(), config={}), heartbeat)


def test_a_source_starts_its_task_again_from_what_is_committed(
    worker: Worker, heartbeat: Heartbeat
) -> None:
    worker.moves_on()
    loop = source(heartbeat)
    loop._move_records(Mock())
    assert loop.starts == 2


def test_a_source_that_has_not_committed_is_lost(worker: Worker, heartbeat: Heartbeat) -> None:
    worker.moves_on()
    loop = source(heartbeat)
    loop.committed_before = 0
    with pytest.raises(GenerationChanged):
        loop._move_records(Mock())
