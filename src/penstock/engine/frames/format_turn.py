"""A turn that ends in a format: its plan is stored, then it is written, then its ends committed.

Whatever is killed in between, the next worker finds the plan with the positions, and whether its
files are in their place, or its table has it. Other formats are appended to: at least once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from penstock.engine.frames.formats import is_installed
from penstock.engine.frames.frame_lease import FrameLease, FrameReport
from penstock.engine.frames.plan_text import plan_text
from penstock.engine.frames.ranges import TurnPlan, Verdict, verdict
from penstock.engine.frames.stored_plan import noted
from penstock.engine.frames.targets import Target, target_of
from penstock.engine.frames.task_frame import task_frame
from penstock.engine.frames.turn import Outcome, append, by_kafka_source
from penstock.engine.frames.turn_order import Build, TurnOutcome, told_turn
from penstock.engine.lease import producers
from penstock.engine.lease.lease import End
from penstock.engine.lease.lease_config import resolved
from penstock.engine.lease.lost_leases import Orphaned
from penstock.engine.lease.offset_copies import send_copies
from penstock.engine.lease.tally import Tally
from penstock.engine.lease.traces import ending_of, trace_of
from penstock.kafka.errors import KafkaFault
from penstock.kafka.groups import Committed
from penstock.kafka.patience import Patience
from penstock.kafka.topics import PartitionId
from penstock.kafka.transactions import GroupOffsets, Transactions
from penstock.sdk.frames import FormatEnd

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Confirm = Callable[[], bool]


@dataclass(frozen=True)
class FormatOrder:
    """A turn of a connector whose only task writes files."""

    lease: FrameLease
    end: FormatEnd
    plan: TurnPlan
    stored: bool
    """Whether the plan was stored by an earlier turn, and may have been run."""
    config: str
    """The hash of the connector's present configuration."""
    build: Build
    headers: bool = True
    explain: bool = False
    """Whether the outcome is to have Spark's plan."""

    @property
    def connector(self) -> str:
        """Whose turn it is."""
        return self.lease.connector

    def __str__(self) -> str:
        ranges = ", ".join(map(str, self.plan.ranges))
        return f"{self.connector}: turn {self.plan.id}, {ranges}"[:500]


class FormatTurn:
    """Runs one turn on the caller's thread, under whatever tags and pool that has."""

    def __init__(self, spark: SparkSession, order: FormatOrder, confirm: Confirm) -> None:
        self._spark = spark
        self._order = order
        self._lease = order.lease
        self._confirm = confirm
        self._plan = ""

    def run(self) -> TurnOutcome:
        """Kafka's errors are in the report. FrameError if it cannot be written, or what ``build``
        raises."""
        try:
            self._lease = resolved(self._lease)
            report = self._run(producers.acquire(self._lease, Patience()))
        except KafkaFault as error:
            lease, trace = self._lease, trace_of(error, self._lease.secrets)
            report = FrameReport(lease.task, lease.lease_id, ending_of(error), trace=trace)
        return TurnOutcome((report,), plan=self._plan)

    def _run(self, producer: Transactions) -> FrameReport:
        self._refuse_unless_wanted()
        target = self._target()
        if target is None:
            append(self._spark, self._order.end, self._frame)
            return self._commit_ends(producer)
        if self._order.stored and self._verdict(target) is Verdict.DROP:
            dropped = {p: (at, "") for p, (at, _) in noted(self._order.plan).items()}
            return self._commit(producer, dropped, 0)
        if not self._order.stored:
            self._order = replace(self._order, plan=target.following(self._order.plan))
            self._send(producer, noted(self._order.plan))
        if target.write(self._order.plan, self._frame, self._confirm) is Outcome.NOT_WANTED:
            raise Orphaned("the worker no longer wants this turn")
        return self._commit_ends(producer)

    def _target(self) -> Target | None:
        lease = self._lease
        return target_of(self._spark, self._order.end, writer=lease.group, worker_epoch=lease.epoch)

    def _refuse_unless_wanted(self) -> None:
        if not self._confirm():
            raise Orphaned("the worker no longer wants this turn")

    def _verdict(self, target: Target) -> Verdict:
        """A changed configuration does not undo what has been written."""
        order, plan = self._order, self._order.plan
        happened = target.happened(plan)
        if not happened and target.following(plan) != plan:
            return Verdict.DROP
        return verdict(plan, happened=happened, epoch=plan.epoch, config=order.config)

    def _frame(self) -> DataFrame:
        told = told_turn((self._lease,), {}, small=False)
        built = self._order.build(self._records(), told)
        if self._order.explain:
            self._plan = plan_text(built, self._lease.secrets)
        return built

    def _records(self) -> DataFrame:
        """By Spark's Kafka source if that can be told how to reach the brokers: Java has other
        words for security."""
        order, connection, task = self._order, self._lease.connection, self._lease.task
        if connection.security or not is_installed(self._spark, "kafka"):
            parts = [(task, (each,)) for each in order.plan.ranges]
            return task_frame(self._spark, connection, parts, headers=order.headers)
        settings = {"bootstrap.servers": connection.bootstrap_servers}
        read = by_kafka_source(settings, headers=order.headers)
        return read(self._spark, order.plan.ranges).selectExpr(f"{task} AS task", "*")

    def _send(self, producer: Transactions, offsets: Mapping[PartitionId, Committed]) -> None:
        lease = self._lease
        send_copies(producer, lease, offsets)
        producer.drain()
        entries = [(*position, *committed) for position, committed in offsets.items()]
        own = GroupOffsets(lease.group_metadata, entries)
        try:
            producer.commit([], [own, lease.membership.offsets()])
        except KafkaFault:
            producer.abort()  # or the rejected transaction would block readers
            raise

    def _commit_ends(self, producer: Transactions) -> FrameReport:
        plan = self._order.plan
        ends = {position: (end, "") for position, end in plan.ends.items()}
        return self._commit(producer, ends, sum(each.count for each in plan.ranges))

    def _commit(
        self, producer: Transactions, offsets: Mapping[PartitionId, Committed], taken: int
    ) -> FrameReport:
        self._send(producer, offsets)
        producers.keep(self._lease, producer)
        return self._report(dict(offsets), taken)

    def _report(self, offsets: dict[PartitionId, Committed], taken: int) -> FrameReport:
        lease = self._lease
        tally = Tally(taken=taken, given=taken)
        tally.count_commit(taken, 0, 0.0)
        made = partial(FrameReport, lease.task, lease.lease_id, End.DONE)
        topics = frozenset(topic for topic, _ in offsets)
        return made(
            sink_positions=offsets, records=taken, topics=topics, tally=tally, produced=taken
        )
