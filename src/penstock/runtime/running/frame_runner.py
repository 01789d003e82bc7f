"""A running frame connector: a sink whose turns are Spark jobs over all its tasks."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from penstock.engine.driver.format_turns import IntoFormat
from penstock.engine.driver.frame_turns import Turn, TurnDone
from penstock.engine.driver.kafka_turns import IntoKafka
from penstock.engine.frames.format_turn import FormatOrder
from penstock.engine.frames.formats import promise
from penstock.engine.frames.frame_lease import FrameLease, FrameReport
from penstock.engine.frames.ranges import TurnPlan, config_hash, plan_turn
from penstock.engine.frames.stored_plan import stored_plan
from penstock.engine.frames.turn_order import TurnOrder, topic_ranges
from penstock.engine.frames.turn_records import Reading
from penstock.engine.lease.lease import End, Lease, Limits
from penstock.kafka.errors import BrokerUnavailable
from penstock.kafka.range_reader import Range
from penstock.kafka.topics import PartitionId
from penstock.runtime.running.sink_runner import SinkRunner
from penstock.runtime.running.turn_pace import TurnPace
from penstock.runtime.running.turn_runner import TurnRunner
from penstock.runtime.stores.sink_snapshot import Start
from penstock.sdk.connectors import TopicPartition
from penstock.sdk.frames import FormatEnd, KafkaEnd, TurnEnd

log = logging.getLogger(__name__)


class FrameRunner(TurnRunner[FrameLease], SinkRunner):
    """Positions, fencing and statuses are a sink's."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._turn_pace = TurnPace()
        self._checked = False
        self._end: KafkaEnd | FormatEnd = KafkaEnd()
        self._stored: TurnPlan | None = None
        self._tried_small = False
        self._left = False
        """Whether the turn that was planned last has left records that were there already."""

    def _start_connector(self) -> list[dict[str, str]]:
        tasks = super()._start_connector()
        self._end = self._connector.end()
        if isinstance(self._end, FormatEnd):
            kind, target = self._end.format, self._end.target
            log.info("turns end in %s, %s", target or kind, promise(kind, target))
        self._checked = False
        return tasks

    # Planning.

    def _plan(self, tasks: Sequence[int], limits: Limits) -> list[Lease]:
        starts, ids = self._noted_starts(), self._topic_ids
        mine = {p: s for p, s in starts.items() if self._tasks_of[p] in self._startable(tasks)}
        ranges = self._ranges(mine)
        leases: list[Lease] = [
            lease
            for task in tasks
            if (lease := self._frame_lease(task, limits, mine, ids, ranges)).ends
        ]
        self._renewing = False
        return leases

    def _noted_starts(self) -> dict[PartitionId, Start]:
        """Without what is noted of a topic that was recreated: it is about the earlier one. Such a
        start is not the group's own, nor has it only expired."""
        starts = self._planned_starts()
        if not isinstance(self._end, FormatEnd) or self._positions is None:
            return starts
        known = self._positions.expired
        return {
            p: replace(start, metadata="") if start.unsaid and p not in known else start
            for p, start in starts.items()
        }

    def _startable(self, tasks: Sequence[int]) -> set[int]:
        return {task for task in tasks if task not in self.failed}

    def _ranges(self, starts: Mapping[PartitionId, Start]) -> list[Range]:
        """About a second of work; or what an earlier turn has stored, and perhaps written."""
        if (stored := self._stored_plan(starts)) is not None:
            if stored.part_of and not starts.keys() >= set(self._partitions()):
                # Of the others Kafka does not say now where they stand: it can be known later.
                self._stored = None
                return []
            self._left = True
            return list(stored.ranges)
        positions = {p: start.offset for p, start in starts.items()}
        ends = self._ends(list(positions))
        plan = plan_turn(positions, ends, epoch=0, target="", config={}, most=self._turn_pace.most)
        ranges = list(plan.ranges) if plan else []
        self._left = any(ends[r.topic, r.partition] > r.stop for r in ranges)
        return ranges

    def _frame_lease(
        self,
        task: int,
        limits: Limits,
        starts: Mapping[PartitionId, Start],
        topic_ids: Mapping[str, str],
        ranges: Iterable[Range],
    ) -> FrameLease:
        mine = self._of_task(starts, task)
        read = tuple(r for r in ranges if (r.topic, r.partition) in mine)
        lease = self._lease(task, limits, mine, topic_ids)
        # What the group has ever committed is of use to tasks that have a target of their own.
        return FrameLease(**vars(replace(lease, committed=())), ranges=read)

    def _side_ends(self) -> dict[TopicPartition, int]:
        """Asked after the ranges were fixed, so that look-ups are never behind the records.

        BrokerUnavailable or AccessDenied if one is not told: without it a turn would not find what
        that partition has, and commit rows that lack it.
        """
        topics = set(self._connector.side_topics())
        if not topics:
            return {}
        known = self.context.ends.topics()
        places = [(t, p) for t in sorted(topics) for p in range(known.get(t, 0))]
        said = self._questions.ends(places, committed=True)
        for topic, partition in places:
            if (topic, partition) not in said.offsets:
                unknown = BrokerUnavailable(
                    f"the brokers do not say where {topic}-{partition} ends"
                )
                raise said.faults.get((topic, partition), unknown)
        return {TopicPartition(*place): end for place, end in said.offsets.items()}

    def _stored_plan(self, starts: Mapping[PartitionId, Start]) -> TurnPlan | None:
        self._stored = None
        if isinstance(self._end, FormatEnd):
            committed = {p: (start.offset, start.metadata) for p, start in starts.items()}
            self._stored = stored_plan(committed, self._end.target)
        return self._stored

    # Running.

    def _turn_of(self, leases: tuple[FrameLease, ...]) -> Turn:
        if isinstance(self._end, FormatEnd):
            return IntoFormat(self._format_order(leases[0], self._end))
        return IntoKafka(self._turn_order(leases))

    def _format_order(self, lease: FrameLease, end: FormatEnd) -> FormatOrder:
        config, stored, connector = config_hash(self.config), self._stored, self._connector
        # Any number that no turn before had: ranges that are read again are another turn.
        fresh = TurnPlan(time.time_ns() // 1000, lease.ranges, end.target, config)
        return FormatOrder(
            lease,
            end,
            stored or fresh,
            stored=stored is not None,
            config=config,
            reading=Reading(connector.decode, connector.build, connector.wants_headers),
            explain=not self.plan,
        )

    def _turn_order(self, leases: tuple[FrameLease, ...]) -> TurnOrder:
        offsets = sum(lease.offsets for lease in leases)
        return TurnOrder(
            self.name,
            leases,
            self._connector.build,
            self._side_ends(),
            headers=self._connector.wants_headers,
            small=self._passes_through_worker(offsets),
            check=not self._checked,
            whole=self._connector.is_whole,
        )

    def _passes_through_worker(self, offsets: int) -> bool:
        self._tried_small = offsets <= self._turn_pace.small
        return self._tried_small

    # What came of it.

    def _learn(self, done: TurnDone) -> None:
        outcome = done.outcome
        if outcome is None:
            self._turn_pace.lost()
            return
        self._checked = self._checked or outcome.checked
        self.plan = outcome.plan or self.plan
        offsets = sum(lease.offsets for lease in self._turn)
        self._turn_pace.done(offsets, done.seconds, left=self._left)
        if self._tried_small:
            self._turn_pace.through_worker(offsets, fitted=outcome.small)
        reports = [each for each in outcome.reports if isinstance(each, FrameReport)]
        committed = [each for each in reports if each.end is End.DONE]
        if committed and self._connector is not None:
            self._tell_connector(committed, done.seconds, small=outcome.small)

    def _tell_connector(
        self, committed: Sequence[FrameReport], seconds: float, *, small: bool
    ) -> None:
        tasks = {report.task for report in committed}
        leases = tuple(lease for lease in self._turn if lease.task in tasks)
        end = TurnEnd(
            topic_ranges(leases),
            produced=sum(report.produced for report in committed),
            bad_rows=sum(report.bad_rows for report in committed),
            errors=tuple(text for report in committed for text in report.errors),
            seconds=seconds,
            small=small,
        )
        log.debug("a turn ended: %s", end)
        self._tell(end)

    def _settle_down(self, moved: int) -> None:
        """Look again at once while there is more; otherwise let some records gather."""
        super()._settle_down(moved)
        if moved:
            self._pause.begin(self._turn_pace.pause)
