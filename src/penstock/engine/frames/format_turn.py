"""A turn that ends in a format: its plan is stored, then it is written, then its ends committed.

Whatever is killed in between, the next worker finds the plan with the positions, and whether its
files are in their place, or its table has it. Other formats are appended to: at least once.

Records that cannot be decoded are left out where errors are tolerated. The plan says which they
are, and their dead letters are in the transaction that stores it. Where errors are not tolerated,
the turn ends before the first of each partition, and its task fails once that is committed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from penstock.engine.frames.errors import UnreadableError
from penstock.engine.frames.frame_lease import MOST_ERRORS, FrameLease, FrameReport
from penstock.engine.frames.plan_text import plan_text
from penstock.engine.frames.problems import Problem
from penstock.engine.frames.ranges import TurnPlan, Verdict, verdict
from penstock.engine.frames.sifted import NOTHING, Sifted
from penstock.engine.frames.stored_plan import noted
from penstock.engine.frames.targets import Target, target_of
from penstock.engine.frames.turn import Outcome, append
from penstock.engine.frames.turn_commits import TurnCommits
from penstock.engine.frames.turn_order import TurnOutcome
from penstock.engine.frames.turn_records import Reading, TurnRecords
from penstock.engine.lease.dead_letters import DeadLetters, Letter
from penstock.engine.lease.lease import End
from penstock.engine.lease.lease_config import resolved
from penstock.engine.lease.lost_leases import Orphaned
from penstock.engine.lease.tally import Tally
from penstock.engine.lease.traces import ending_of, trace_of
from penstock.kafka.errors import KafkaFault
from penstock.kafka.groups import Committed
from penstock.kafka.topics import PartitionId
from penstock.sdk.errors import FatalError, RetriableError
from penstock.sdk.frames import FormatEnd

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Confirm = Callable[[], bool]
CHANGED = "records cannot be read now that could be read a moment ago"


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
    reading: Reading
    explain: bool = False
    """Whether the outcome is to have Spark's plan."""

    @property
    def connector(self) -> str:
        """Whose turn it is."""
        return self.lease.connector

    def __str__(self) -> str:
        ranges = ", ".join(map(str, self.plan.ranges))
        return f"{self.connector}: turn {self.plan.id}, {ranges}"[:500]


@dataclass(frozen=True)
class SetAside:
    """What becomes of the records that cannot be read."""

    found: Sifted = NOTHING
    letters: tuple[Letter, ...] = ()
    failure: str = ""
    """Why the task fails with the first of them."""


class FormatTurn:
    """Runs one turn on the caller's thread, under whatever tags and pool that has."""

    def __init__(self, spark: SparkSession, order: FormatOrder, confirm: Confirm) -> None:
        self._spark = spark
        self._order = order
        self._lease = order.lease
        self._confirm = confirm
        self._records = TurnRecords(spark, order.lease, order.reading)
        self._plan = ""

    @property
    def _tolerant(self) -> bool:
        return self._lease.tolerance.all_errors

    def run(self) -> TurnOutcome:
        """Kafka's errors are in the report. FrameError if it cannot be written, or what the
        connector's functions raise."""
        try:
            self._lease = resolved(self._lease)
            report = self._run(TurnCommits(self._lease))
        except KafkaFault as error:
            lease, trace = self._lease, trace_of(error, self._lease.secrets)
            report = FrameReport(lease.task, lease.lease_id, ending_of(error), trace=trace)
        return TurnOutcome((report,), plan=self._plan)

    def _run(self, commits: TurnCommits) -> FrameReport:
        self._refuse_unless_wanted()
        if self._starts:
            commits.commit(self._starts)  # before anything can fail
        if not self._order.plan.ranges:
            commits.keep()
            return self._report({}, 0, SetAside())
        target, plan = self._target(), self._order.plan
        if target is not None and self._order.stored:
            judged = self._verdict(target)
            if judged is Verdict.DROP:
                return self._dropped(commits)
            if judged is Verdict.COMMIT:
                return self._ended(commits, plan, SetAside())
        looked = self._tolerant or target is None
        try:
            return self._through(commits, target, self._look() if looked else NOTHING)
        except UnreadableError:
            if looked:
                raise RetriableError(CHANGED) from None
        return self._through(commits, target, self._look())

    @property
    def _starts(self) -> dict[PartitionId, Committed]:
        """Starts that could be others next time."""
        unsaid = self._lease.uncommitted_starts
        starts = {(a.topic, a.partition): (a.offset, a.metadata) for a in self._lease.assignments}
        return {place: start for place, start in starts.items() if place in unsaid}

    def _look(self) -> Sifted:
        found = self._records.look(self._order.plan, all_errors=self._tolerant)
        self._refuse_unless_wanted()
        return found

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

    def _through(self, commits: TurnCommits, target: Target | None, found: Sifted) -> FrameReport:
        """Write and commit what there is but for the refused records, or up to them."""
        order, cuts = self._order, found.cuts if self._tolerant else found.first
        if cuts and self._tolerant and order.stored:
            return self._dropped(commits)  # it was stored with fewer of them
        plan, aside = order.plan.cut(cuts), self._set_aside(found)
        if self._tolerant:
            plan = replace(plan, letters=found.digest)
        if not plan.ranges:
            return self._report({}, 0, aside)
        if target is None:
            append(self._spark, order.end, lambda: self._frame(plan, found))
            return self._ended(commits, plan, aside, aside.letters)
        plan = self._stored(commits, target, plan, aside.letters)
        written = target.write(plan, lambda: self._frame(plan, found), self._confirm)
        if written is Outcome.NOT_WANTED:
            raise Orphaned("the worker no longer wants this turn")
        return self._ended(commits, plan, aside)

    def _frame(self, plan: TurnPlan, refused: Sifted) -> DataFrame:
        built = self._records.frame(plan, refused)
        if self._order.explain:
            self._plan = plan_text(built, self._lease.secrets)
        return built

    def _set_aside(self, found: Sifted) -> SetAside:
        dead = DeadLetters(self._lease)
        try:
            for row, text in enumerate(found.errors):
                dead.take(found.records, row, Problem.told(text).error(row))
        except FatalError as error:
            return SetAside(found, failure=trace_of(error, self._lease.secrets))
        return SetAside(found, tuple(dead.take_letters()))

    def _stored(
        self, commits: TurnCommits, target: Target, plan: TurnPlan, letters: Sequence[Letter]
    ) -> TurnPlan:
        """Store the plan, with the letters of what it leaves out; unless just this was stored."""
        order = self._order
        if order.stored and plan == order.plan:
            return plan
        plan = target.following(plan)
        # A partition that was cut at its beginning must not keep the note of a longer plan.
        commits.commit({**self._beginnings(), **noted(plan)}, letters)
        return plan

    def _beginnings(self) -> dict[PartitionId, Committed]:
        return {(r.topic, r.partition): (r.start, "") for r in self._order.plan.ranges}

    def _dropped(self, commits: TurnCommits) -> FrameReport:
        """The next plan begins where this one does."""
        return self._committed(commits, self._beginnings(), 0, SetAside())

    def _ended(
        self,
        commits: TurnCommits,
        plan: TurnPlan,
        aside: SetAside,
        letters: Sequence[Letter] = (),
    ) -> FrameReport:
        ends = {position: (end, "") for position, end in plan.ends.items()}
        taken = sum(each.count for each in plan.ranges)
        return self._committed(commits, ends, taken, aside, letters)

    def _committed(
        self,
        commits: TurnCommits,
        offsets: Mapping[PartitionId, Committed],
        taken: int,
        aside: SetAside,
        letters: Sequence[Letter] = (),
    ) -> FrameReport:
        commits.commit(offsets, letters)
        commits.keep()
        return self._report(offsets, taken, aside)

    def _report(
        self, offsets: Mapping[PartitionId, Committed], taken: int, aside: SetAside
    ) -> FrameReport:
        lease, bad = self._lease, len(aside.found.errors)
        skipped = bad if self._tolerant else 0
        letters = len(aside.letters)
        tally = Tally(
            taken=taken,
            given=taken - skipped,
            bad_records=bad,
            skipped=skipped,
            dead_letters=letters,
        )
        if offsets:
            tally.count_commit(taken, 0, 0.0)
        return FrameReport(
            lease.task,
            lease.lease_id,
            End.FAILED if aside.failure else End.DONE,
            sink_positions={**self._starts, **offsets},
            records=taken,
            dead_letters=letters,
            topics=frozenset(topic for topic, _ in offsets),
            trace=aside.failure,
            tally=tally,
            produced=taken - skipped,
            bad_rows=skipped,
            errors=aside.found.errors[:MOST_ERRORS] if self._tolerant else (),
        )
