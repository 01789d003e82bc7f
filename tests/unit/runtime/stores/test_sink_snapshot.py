"""What a sink plans from one step of questions, with stale and partial answers."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, TypeVar
from unittest.mock import MagicMock

import pytest

from penstock.engine.frames.frame_lease import FrameLease
from penstock.engine.frames.ranges import TurnPlan
from penstock.engine.frames.stored_plan import noted
from penstock.engine.lease.lease import End, Lease, Limits, Membership, Report, SinkLease
from penstock.kafka.clients import Connection
from penstock.kafka.errors import AccessDenied, BrokerUnavailable, KafkaFault
from penstock.kafka.generation import LAYOUT, MARK
from penstock.kafka.groups import Committed
from penstock.kafka.partition_offsets import Answers
from penstock.kafka.range_reader import Range
from penstock.kafka.topics import PartitionId
from penstock.runtime.config.worker_rules import Rules
from penstock.runtime.plugins import Plugin, Plugins
from penstock.runtime.running import sink_runner
from penstock.runtime.running.frame_runner import FrameRunner
from penstock.runtime.running.scheduler import TURN
from penstock.runtime.running.sink_runner import SinkRunner
from penstock.runtime.states import State
from penstock.runtime.stores.sink_snapshot import Positions
from penstock.sdk.config import ConfigDef
from penstock.sdk.connectors import SinkConnector
from penstock.sdk.frames import FormatEnd, FrameTask


class Nothing(SinkConnector):
    task_class = FrameTask
    config_def = ConfigDef()

    def start(self, config: Mapping[str, str]) -> None: ...

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return []


@dataclass
class FakeKafka:
    """Answers as brokers do; ``listed`` is what the cached list of topics says."""

    bounds: dict[PartitionId, tuple[int, int]] = field(default_factory=dict)
    committed: dict[PartitionId, Committed] = field(default_factory=dict)
    copied_ids: dict[PartitionId, str] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    listed: dict[str, int] = field(default_factory=dict)
    faults: dict[PartitionId, KafkaFault] = field(default_factory=dict)
    expired: frozenset[PartitionId] = frozenset()

    def topic(self, name: str, *bounds: tuple[int, int], topic_id: str = "1") -> None:
        self.bounds |= {(name, number): each for number, each in enumerate(bounds)}
        self.ids[name], self.listed[name] = topic_id, len(bounds)

    # What is asked in one step. A first offset is found only by those who ask for it by name.

    def positions(self, partitions: Iterable[PartitionId]) -> Positions:
        wanted = frozenset(partitions)
        found = {p: each for p, each in self.committed.items() if p in wanted}
        ids = {p: i for p, i in self.copied_ids.items() if p in found}
        return Positions(wanted, found, ids, self.expired)

    def begins(self, partitions: Iterable[PartitionId]) -> Answers:
        return self._answers(partitions, 0)

    def ends(self, partitions: Iterable[PartitionId], *, committed: bool = False) -> Answers:
        return self._answers(partitions, 1)

    def topic_ids(self, topics: Iterable[str]) -> dict[str, str]:
        return {topic: self.ids[topic] for topic in topics if topic in self.ids}

    # What looks share.

    def of(self, partitions: Iterable[PartitionId]) -> Answers:
        return self._answers(partitions, 1)

    def topics(self) -> dict[str, int]:
        return self.listed

    def _answers(self, partitions: Iterable[PartitionId], side: int) -> Answers:
        wanted = [p for p in partitions if p in self.bounds]
        sound = {p: self.bounds[p][side] for p in wanted if p not in self.faults}
        return Answers(sound, {p: self.faults[p] for p in wanted if p in self.faults})


@pytest.fixture
def kafka() -> FakeKafka:
    return FakeKafka()


@pytest.fixture
def runner(kafka: FakeKafka, monkeypatch: pytest.MonkeyPatch) -> SinkRunner:
    """A sink of topics a and b, with two tasks, sure of itself."""
    return made(SinkRunner, kafka, monkeypatch, tasks=2)


R = TypeVar("R", bound=SinkRunner)


def made(cls: type[R], kafka: FakeKafka, monkeypatch: pytest.MonkeyPatch, *, tasks: int) -> R:
    context = MagicMock()
    context.worker.rules = Rules()
    context.worker.group_id = "group"
    context.worker.clients.of.return_value = {}
    context.worker.__getitem__.return_value = 500
    context.connection = Connection("nowhere:1")
    context.plugins = Plugins({})
    shared = SimpleNamespace(of=kafka.of, topics=kafka.topics, ids=lambda: kafka.ids)
    context.ends = shared
    config = {"topics": "a,b"}
    runner = cls(context, "sink", config, Plugin(Nothing), ConfigDef())
    runner._tasks = [{} for _ in range(tasks)]
    runner._connector = Nothing()
    with runner._unverified.verifying():
        pass
    runner._group_metadata = b""
    runner._standing = STANDING
    monkeypatch.setattr(SinkRunner, "_questions", kafka)
    monkeypatch.setattr(runner, "_base_lease", base_lease)
    return runner


STANDING = Membership(LAYOUT.pack(MARK, 3), "workers")


def base_lease(task: int, limits: Limits) -> Lease:
    """None of these tests looks at what every lease has."""
    empty: dict[str, Any] = dict.fromkeys(Lease.__dataclass_fields__)
    return Lease(**{**empty, "task": task, "limits": limits, "membership": STANDING})


def plan(runner: SinkRunner) -> dict[PartitionId, int]:
    """Where each partition would begin."""
    return {(a.topic, a.partition): a.offset for lease in leases(runner) for a in lease.assignments}


def leases(runner: SinkRunner) -> list[SinkLease]:
    found = runner._plan(runner._live(), Limits())
    return [lease for lease in found if isinstance(lease, SinkLease)]


def test_a_partition_that_a_stale_list_left_out_begins_where_its_group_stands(
    kafka: FakeKafka, runner: SinkRunner
) -> None:
    kafka.topic("a", (0, 9), (0, 9))
    kafka.committed = {("a", 0): (9, ""), ("a", 1): (7, "")}
    kafka.listed = {"a": 1}
    assert plan(runner) == {("a", 0): 9}
    kafka.listed = {"a": 2}
    assert runner._look() == TURN
    assert plan(runner) == {("a", 0): 9, ("a", 1): 7}


def test_a_topic_that_appears_between_a_look_and_its_turn_begins_where_its_group_stands(
    kafka: FakeKafka, runner: SinkRunner
) -> None:
    """Its position was not asked for by the look: it must not count as one without."""
    kafka.topic("a", (0, 9))
    kafka.committed = {("a", 0): (4, ""), ("b", 0): (7, "")}
    plan(runner)
    assert runner._look() == TURN
    kafka.topic("b", (0, 9))
    assert plan(runner) == {("a", 0): 4, ("b", 0): 7}


def test_a_partition_without_an_answer_is_not_begun(kafka: FakeKafka, runner: SinkRunner) -> None:
    """Listed, but unknown to the broker that was asked where it begins and ends."""
    kafka.topic("a", (0, 9))
    kafka.listed = {"a": 2, "b": 1}
    assert plan(runner) == {("a", 0): 0}


def test_a_partition_that_was_missing_comes_back_to_its_task(
    kafka: FakeKafka, runner: SinkRunner
) -> None:
    kafka.topic("a", (0, 9), (0, 9), (0, 9))
    plan(runner)
    owners = dict(runner.owners)
    runner.failed[owners["a", 1]] = "bad record"
    kafka.listed = {}
    assert plan(runner) == {}
    kafka.listed = {"a": 3}
    plan(runner)
    assert runner.owners == owners


@pytest.mark.parametrize(
    ("bounds", "text"),
    [((0, 5), "ends at offset 5, but"), ((8, 9), "begins at offset 8, but")],
)
def test_a_position_that_cannot_be_reached_is_told_whenever_it_comes_about(
    kafka: FakeKafka, runner: SinkRunner, bounds: tuple[int, int], text: str
) -> None:
    """While it rests: nothing is behind, and nobody else would look."""
    kafka.topic("a", (0, 7))
    kafka.topic("b", (0, 1))
    kafka.committed = {("a", 0): (7, ""), ("b", 0): (1, "")}
    plan(runner)
    assert runner._look() != TURN
    kafka.bounds["a", 0] = bounds
    assert runner._look() == TURN
    assert plan(runner) == {("b", 0): 1}
    assert [*runner.failed] == [runner.owners["a", 0]]
    assert f"a-0 {text} this connector is at 7" in runner.failed[runner.owners["a", 0]]
    assert runner._look() != TURN, "the failed task's partition is nobody's work"


def test_an_alter_from_outside_to_beyond_the_end_is_told(
    kafka: FakeKafka, runner: SinkRunner
) -> None:
    kafka.topic("a", (0, 7))
    kafka.committed = {("a", 0): (7, "")}
    plan(runner)
    kafka.committed = {("a", 0): (70, "")}
    runner._read_at = 0.0
    assert runner._look() == TURN
    assert plan(runner) == {}
    assert list(runner.failed) == [0]


def test_what_our_own_lease_knows_better_than_an_old_answer_is_no_failure(
    kafka: FakeKafka, runner: SinkRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    kafka.topic("a", (0, 7))
    plan(runner)
    kafka.committed = {("a", 0): (9, "")}
    runner._absorb(Report(0, "lease", End.DONE, sink_positions=dict(kafka.committed)))
    old = kafka.of([("a", 0)])
    kafka.bounds["a", 0] = (0, 9)
    monkeypatch.setattr(runner.context.ends, "of", lambda _: old)  # a cached answer
    assert runner._look() != TURN
    assert runner.failed == {}


def test_a_topic_made_anew_under_a_lease_begins_anew_with_what_the_target_says(
    kafka: FakeKafka, runner: SinkRunner, caplog: pytest.LogCaptureFixture
) -> None:
    """The lease read on in the new topic from where it stood in the old one, and committed."""
    kafka.topic("a", (0, 7))
    plan(runner)
    kafka.topic("a", (0, 12), topic_id="2")
    kafka.committed = {("a", 0): (12, "length=3")}
    runner._absorb(Report(0, "lease", End.DONE, sink_positions=dict(kafka.committed)))
    assert runner._look() == TURN, "though it stands exactly at the end"
    with caplog.at_level(logging.WARNING):
        [lease] = leases(runner)
    [begun] = lease.assignments
    assert (begun.offset, begun.metadata) == (0, "length=3")
    assert lease.uncommitted_starts == {("a", 0)}, "before anything else"
    assert lease.topic_ids == {"a": "2"}
    assert "a-0 was recreated since it was read up to offset 12" in caplog.text


def test_a_copy_tells_whoever_comes_next_that_the_topic_was_made_anew(
    kafka: FakeKafka, runner: SinkRunner
) -> None:
    kafka.topic("a", (0, 12), topic_id="2")
    kafka.committed = {("a", 0): (12, "")}
    kafka.copied_ids = {("a", 0): "1"}
    assert plan(runner) == {("a", 0): 0}


def test_a_topic_made_anew_begins_at_its_end_where_new_ones_do(
    kafka: FakeKafka, runner: SinkRunner
) -> None:
    runner.config["consumer.override.auto.offset.reset"] = "latest"
    kafka.topic("a", (0, 12), topic_id="2")
    kafka.committed = {("a", 0): (5, "")}
    kafka.copied_ids = {("a", 0): "1"}
    assert plan(runner) == {("a", 0): 12}


def test_a_partition_without_a_leader_spoils_only_its_own(
    kafka: FakeKafka, runner: SinkRunner, caplog: pytest.LogCaptureFixture
) -> None:
    kafka.topic("a", (0, 3))
    kafka.topic("b", (0, 4))
    kafka.faults = {("b", 0): BrokerUnavailable("LEADER_NOT_AVAILABLE")}
    with caplog.at_level(logging.INFO):
        assert plan(runner) == {("a", 0): 0}
        runner._look()
        assert caplog.text.count("leaving out b-0 until Kafka answers for it: LEADER_NOT") == 1
        kafka.faults = {}
        assert runner._look() == TURN
    assert "Kafka answers for b-0 again" in caplog.text
    assert plan(runner) == {("a", 0): 0, ("b", 0): 0}
    assert runner.failed == {}


def test_a_forbidden_partition_fails_its_task_alone(kafka: FakeKafka, runner: SinkRunner) -> None:
    kafka.topic("a", (0, 3))
    kafka.topic("b", (0, 4))
    plan(runner)
    denied: Any = SimpleNamespace(name=lambda: "TOPIC_AUTHORIZATION_FAILED", str=lambda: "no")
    kafka.faults = {("b", 0): AccessDenied("see topic b", denied)}
    assert plan(runner) == {("a", 0): 0}
    [(task, trace)] = runner.failed.items()
    assert task == runner.owners["b", 0]
    assert "Not allowed to see topic b" in trace
    status = runner.context.statuses.put_task.call_args.args[2]  # type: ignore[attr-defined]  # a Mock
    assert status.state is State.FAILED


def test_offsets_that_are_renewed_while_a_lease_runs_are_committed_by_the_next_one(
    kafka: FakeKafka, runner: SinkRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever else wrote them would fence the lease that runs."""
    monkeypatch.setattr(sink_runner, "SinkWrites", writes := MagicMock())
    kafka.topic("a", (0, 9), (0, 9))
    kafka.committed = {("a", 0): (4, "")}
    first, second = leases(runner)
    assert first.uncommitted_starts == second.uncommitted_starts == frozenset()
    runner._leases.hand_over(first)
    runner.recommit()
    assert not writes.called
    assert runner.context.engine.fleet.method_calls == []  # type: ignore[attr-defined]  # a Mock
    renewing = [lease.uncommitted_starts for lease in leases(runner)]
    assert frozenset().union(*renewing) == {("a", 0), ("a", 1)}
    assert [lease.uncommitted_starts for lease in leases(runner)] == [frozenset()] * 2


def test_offsets_are_renewed_at_once_while_no_lease_runs(
    kafka: FakeKafka, runner: SinkRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sink_runner, "SinkWrites", writes := MagicMock())
    kafka.topic("a", (0, 9), (0, 9))
    kafka.committed = {("a", 0): (4, "")}
    plan(runner)
    runner.context.sink_groups.named.return_value = runner.group  # type: ignore[attr-defined]  # a Mock
    runner.recommit()
    writes.return_value.write.assert_called_once_with(kafka.committed)
    assert not runner._renewing


def test_a_turn_that_was_stored_waits_for_the_partitions_that_kafka_does_not_answer_for(
    kafka: FakeKafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it was written is not forgotten, and what it has written is not written again."""
    runner = made(FrameRunner, kafka, monkeypatch, tasks=1)
    runner._end = FormatEnd("parquet", "/out")
    stored = TurnPlan(7, (Range("a", 0, 2, 6), Range("b", 0, 0, 4)), "/out", "config")
    kafka.topic("a", (0, 9))
    kafka.topic("b", (0, 4))
    kafka.committed = dict(noted(stored))
    kafka.faults = {("b", 0): BrokerUnavailable("LEADER_NOT_AVAILABLE")}
    assert leases(runner) == []
    kafka.faults = {}
    assert read(runner) == stored.ranges
    assert runner._stored == stored
    kafka.listed = {"a": 1}
    assert read(runner) == stored.ranges[:1]
    assert runner._stored is not None
    assert runner._stored.id == stored.id


def test_a_stored_turn_is_not_of_a_topic_that_was_recreated(
    kafka: FakeKafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Although both begin at the same offset. One whose offsets have expired is."""
    runner = made(FrameRunner, kafka, monkeypatch, tasks=1)
    runner._end = FormatEnd("parquet", "/out")
    stored = TurnPlan(7, (Range("a", 0, 0, 6),), "/out", "config")
    kafka.topic("a", (0, 9), topic_id="2")
    kafka.committed, kafka.copied_ids = dict(noted(stored)), {("a", 0): "1"}
    [lease] = leases(runner)
    assert (read(runner), runner._stored) == ((Range("a", 0, 0, 9),), None)
    assert [each.metadata for each in lease.assignments] == [""], "nor is it committed again"
    kafka.copied_ids, kafka.expired = {}, frozenset({("a", 0)})
    runner._positions = None
    assert read(runner) == stored.ranges


def read(runner: FrameRunner) -> tuple[Range, ...]:
    [lease] = leases(runner)
    assert isinstance(lease, FrameLease)
    return lease.ranges
