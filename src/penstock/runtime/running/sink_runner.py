"""A running sink connector."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from penstock.columnar.java_regex import java_regex
from penstock.config.references import Resolved
from penstock.engine.lease.lease import Lease, Limits, Report, SinkLease
from penstock.engine.lease.traces import trace_of
from penstock.kafka import topics
from penstock.kafka.clients import group_metadata
from penstock.kafka.errors import AccessDenied, KafkaFault
from penstock.kafka.sink_copies import SinkGroup
from penstock.kafka.topics import PartitionId
from penstock.runtime.running.epochs import next_epoch
from penstock.runtime.running.group_positions import GroupPositions
from penstock.runtime.running.runner import Runner
from penstock.runtime.running.scheduler import TURN, Next
from penstock.runtime.running.silent_partitions import SilentPartitions
from penstock.runtime.running.sink_plan import assign, missing, subscribed
from penstock.runtime.running.sink_questions import KafkaQuestions
from penstock.runtime.running.sink_writes import SinkWrites
from penstock.runtime.stores.sink_groups import chosen_group, group_errors
from penstock.runtime.stores.sink_positions import MADE_ANEW, begins_at_end
from penstock.runtime.stores.sink_snapshot import Positions, Questions, Start, take_snapshot
from penstock.sdk.errors import ConfigError
from penstock.sdk.tasks import Assignment

log = logging.getLogger(__name__)

RECHECK_SECONDS = 10.0
"""How often a sink without leases checks whether its offsets were changed from outside."""


class SinkRunner(Runner):
    """Turns of a sink: positions are the group's committed offsets, and a copy of them."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # A plan is made from one snapshot, taken while no lease runs.
        self._leases.together = True
        self._renewing = False
        self._group_metadata: bytes | None = None
        self._positions: Positions | None = None
        self._group_positions = GroupPositions()
        self._read_at = 0.0
        self._tasks_of: dict[PartitionId, int] = {}
        self._topic_ids: Mapping[str, str] = {}
        self._silent = SilentPartitions()
        self._listed: Mapping[str, int] = {}
        self._asking: KafkaQuestions | None = None

    @property
    def group(self) -> SinkGroup:
        """The group of its offsets, from its config."""
        return chosen_group(self.name, self.config)

    @property
    def owners(self) -> Mapping[PartitionId, int]:
        """Which task has which partition, as of the last look."""
        return self._tasks_of

    def _resolve(self) -> Resolved:
        self._group_metadata = self._asking = None
        return super()._resolve()

    def _check_overrides(self) -> None:
        """Other connectors, or a resolved reference, may conflict with the group."""
        super()._check_overrides()
        java_regex("topics.regex", self.config.get("topics.regex"))
        worker = self.context.worker
        for _, text in group_errors({**self.config, "name": self.name}, worker.group_id):
            raise ConfigError(text)
        self.context.sink_groups.refuse_shared(self.group)

    def _look(self) -> Next:
        partitions = self._partitions()
        known = self._positions
        if known is None or self.adrift:
            # Until the previous runner is fenced, its open transaction hides the group's offsets.
            return TURN
        due = time.monotonic() - self._read_at > RECHECK_SECONDS
        if due or not known.asked.issuperset(partitions):
            self._compare(self._questions.positions(partitions))
        ends = self._ends(partitions)
        return TURN if self._behind(ends) or self._doubtful(ends) else self._idle()

    def _look_at_running(self) -> None:
        """New partitions are read by the next leases, so those that run are asked to finish."""
        try:
            listed = self.context.ends.topics()
            if listed != self._listed and self._notice_new_partitions():
                self._listed = listed
        except KafkaFault as error:
            log.debug("new partitions are not looked for: %s", error)

    def _notice_new_partitions(self) -> bool:
        """False if there are some that cannot be read yet."""
        known = self._positions or Positions()
        new = [p for p in self._partitions() if p not in known.asked]
        answered = self.context.ends.of(new).offsets if new else {}
        if answered:
            self._leases.finish()
        return len(answered) == len(new)

    @property
    def _questions(self) -> Questions:
        if self._asking is None:
            self._asking = KafkaQuestions(self.context.admin, self.context.copies, self.group)
        return self._asking

    def _partitions(self) -> list[PartitionId]:
        """According to the list of topics, which may be old or partial."""
        found = subscribed(self.config, self.context.ends.topics())
        # A partition missing for a moment comes back to its task, even to a failed one.
        self._tasks_of = {**self._tasks_of, **assign(found, len(self._tasks), self._tasks_of)}
        return [p for p in found if self._tasks_of[p] not in self.failed]

    def _ends(self, partitions: Sequence[PartitionId]) -> Mapping[PartitionId, int]:
        """The end offsets that Kafka returns; errors of other partitions are logged."""
        said = self.context.ends.of(partitions)
        denied = {p: f for p, f in said.faults.items() if isinstance(f, AccessDenied)}
        for position, fault in denied.items():
            self._fail_once(self._tasks_of[position], trace_of(fault))
        self._silent.note({p: f for p, f in said.faults.items() if p not in denied})
        return said.offsets

    def _behind(self, ends: Mapping[PartitionId, int]) -> bool:
        """Whether there is something to read, or a start to be committed."""
        known = self._positions or Positions()
        unknown = -1 if self._from_end else 0
        return any(
            end > known.committed.get(p, (unknown, ""))[0] or p in known.expired
            for p, end in ends.items()
        )

    def _doubtful(self, ends: Mapping[PartitionId, int]) -> bool:
        """Whether a position cannot be right: its topic was recreated, or ends before it.

        Waiting would not help. A plan checks this exactly, and reports it.
        """
        committed = (self._positions or Positions()).committed
        ids = self.context.ends.ids()
        if any(ids.get(topic, known) != known for topic, known in self._topic_ids.items()):
            return True
        beyond = [p for p, end in ends.items() if p in committed and committed[p][0] > end]
        if not beyond:
            return False
        # Our own last lease may be more recent than an answer that is a moment old.
        now = self._questions.ends(beyond).offsets
        return any(committed[p][0] > end for p, end in now.items())

    @property
    def _from_end(self) -> bool:
        return begins_at_end(self.config, self.context.worker.clients.of("consumer"))

    def _compare(self, found: Positions) -> Positions:
        """Notice offsets that were changed from outside: they are the new positions."""
        self._read_at = time.monotonic()
        before = self._positions
        if before is not None and not self.adrift:
            if found.differs(before):
                log.warning("the group's offsets were changed from outside")
            found = found.knowing(before)
        self._positions = found
        if before is None:
            self._group_positions.begin(self.context.copies.of(self.group))
        self._group_positions.note(found.committed)
        return found

    def _read_positions(self) -> None:
        topics.refuse_hidden(self.context.admin, missing(self.config, self.context.ends.topics()))
        # The plan requests them together with everything else; copies must be read again first.
        self._positions = self._asking = None

    def _plan(self, tasks: Sequence[int], limits: Limits) -> list[Lease]:
        starts, ids = self._planned_starts(), self._topic_ids
        leases: list[Lease] = [
            self._lease(task, limits, mine, ids)
            for task in tasks
            if task not in self.failed and (mine := self._of_task(starts, task))
        ]
        self._renewing = False
        return leases

    def _planned_starts(self) -> dict[PartitionId, Start]:
        """From one snapshot: a partition that is not in it is not started in this turn."""
        answered = list(self._ends(self._partitions()))
        snapshot = take_snapshot(self._questions, answered, from_end=self._from_end)
        snapshot = replace(snapshot, positions=self._compare(snapshot.positions))
        self._positions, self._topic_ids = snapshot.current(), snapshot.topic_ids
        for (topic, partition), offset in snapshot.former().items():
            log.warning(MADE_ANEW, topic, partition, offset)
        for position, text in snapshot.unreachable().items():
            self._fail_once(self._tasks_of[position], text)
        return snapshot.starts()

    def _fail_once(self, task: int, trace: str) -> None:
        if task not in self.failed:
            self._fail_task(task, trace)

    def _of_task(self, values: Mapping[PartitionId, Start], task: int) -> dict[PartitionId, Start]:
        return {p: v for p, v in values.items() if self._tasks_of[p] == task}

    def _lease(
        self,
        task: int,
        limits: Limits,
        starts: Mapping[PartitionId, Start],
        topic_ids: Mapping[str, str],
    ) -> SinkLease:
        base = self._base_lease(task, limits)
        return SinkLease(
            **vars(base),
            task_class=self._connector.task_class,
            group=self.group.group_id,
            group_metadata=self._metadata(),
            assignments=tuple(Assignment(*p, s.offset, s.metadata) for p, s in starts.items()),
            copy_topic=self.context.copies.log.topic,
            copy_partition=self.context.copies.partition(self.name),
            topic_ids=topic_ids,
            uncommitted_starts=self._uncommitted(starts),
            committed=self._group_positions.all(),
            epoch=next_epoch(base.membership),
        )

    def _uncommitted(self, starts: Mapping[PartitionId, Start]) -> frozenset[PartitionId]:
        """Starts that the lease is to commit immediately: all of them if they are to be renewed."""
        return frozenset(p for p, start in starts.items() if start.unsaid or self._renewing)

    def _metadata(self) -> bytes:
        if self._group_metadata is None:
            self._group_metadata = group_metadata(self.context.connection, self.group.group_id)
        return self._group_metadata

    def _absorb(self, report: Report) -> None:
        assert self._positions is not None  # noqa: S101 (read by the plan)
        self._positions = self._positions.moved(report.sink_positions, self._topic_ids)
        self._group_positions.note(report.sink_positions)

    def recommit(self) -> None:
        """Commit unchanged positions again, so that they do not expire.

        While leases run, they alone write: the next ones commit where they start. ConfigError if
        the connector may not have its group.
        """
        with self._active():
            if self._halted.is_set():
                return
            if not self._leases.idle:
                self._renewing = True
                return
            if self.context.sink_groups.named(self.name, self.stored) != self.group:
                return  # the reference to its group was not resolved yet, or has changed
            writes = SinkWrites(self.context, self.group)
            self._previous = {}  # their producers have just been fenced
            writes.write(self._questions.positions(self._tasks_of).committed)
