"""A running sink connector."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from penstock.columnar.java_regex import java_regex
from penstock.engine.lease import Lease, Limits, Report, SinkLease
from penstock.engine.references import Resolved
from penstock.kafka import groups, topics
from penstock.kafka.clients import group_metadata
from penstock.kafka.groups import Committed
from penstock.kafka.sink_copies import SinkGroup
from penstock.kafka.topics import Position
from penstock.runtime.runner import Runner
from penstock.runtime.scheduler import TURN, Next
from penstock.runtime.sink_groups import chosen_group, group_errors
from penstock.runtime.sink_plan import assign, missing, subscribed
from penstock.runtime.sink_positions import begins_at_end, restored_positions
from penstock.sdk.errors import ConfigError
from penstock.sdk.tasks import Assignment

log = logging.getLogger(__name__)

RECHECK_SECONDS = 10.0
LEASE_SECONDS = 10.0
"""A sink's lease is short: new topics and partitions, and offsets that somebody has changed from
outside, are seen between two of them."""


class SinkRunner(Runner):
    """Turns of a sink: positions are the group's committed offsets, and a copy of them."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._group_metadata: bytes | None = None
        self._positions: dict[Position, Committed] | None = None
        self._read_at = 0.0
        self._just_read = False
        self._tasks_of: dict[Position, int] = {}
        self._topic_ids: dict[str, str] = {}

    @property
    def group(self) -> SinkGroup:
        """Where its offsets are, as its config says."""
        return chosen_group(self.name, self.config)

    @property
    def owners(self) -> Mapping[Position, int]:
        """Which task has which partition, as of the last look."""
        return self._tasks_of

    def _resolve(self) -> Resolved:
        self._group_metadata = None
        return super()._resolve()

    def _check_overrides(self) -> None:
        """Also what others do meanwhile, or a reference, may stand against the group."""
        super()._check_overrides()
        java_regex("topics.regex", self.config.get("topics.regex"))
        worker = self.context.worker
        for _, text in group_errors({**self.config, "name": self.name}, worker.group_id):
            raise ConfigError(text)
        self.context.sink_groups.refuse_shared(self.group)

    def _look(self) -> Next:
        partitions = self._partitions()
        if self._positions is None or self.unsure:
            # Until whoever ran before is fenced, its open transaction hides the group's offsets.
            return TURN
        if time.monotonic() - self._read_at > RECHECK_SECONDS:
            self._compare(self._fetch())
        ends = self.context.ends.of(partitions)
        return TURN if self._behind(ends) else self._idle()

    def _partitions(self) -> list[Position]:
        partitions = subscribed(self.config, self.context.ends.topics())
        self._tasks_of = assign(partitions, len(self._tasks), self._tasks_of)
        return partitions

    def _behind(self, ends: Mapping[Position, int]) -> bool:
        """Whether there is something to read, or a start to be committed."""
        positions = self._positions or {}
        unknown = -1 if self._from_end else 0
        return any(
            end > positions.get(position, (unknown, ""))[0]
            and self._tasks_of[position] not in self.failed
            for position, end in ends.items()
        )

    @property
    def _from_end(self) -> bool:
        return begins_at_end(self.config, self.context.worker.clients.of("consumer"))

    def _fetch(self) -> dict[Position, Committed]:
        self._read_at = time.monotonic()
        context = self.context
        return restored_positions(context.admin, context.copies, self.group, self._tasks_of)

    def _compare(self, found: dict[Position, Committed]) -> None:
        """Notice a change that somebody made from outside: it is the new position."""
        if self._positions is not None and not self.unsure and found != self._positions:
            log.warning("the group's offsets were changed from outside")
            self._topic_ids = {}  # perhaps they went with their topic
        self._positions = found

    def _read_positions(self) -> None:
        topics.refuse_hidden(self.context.admin, missing(self.config, self.context.ends.topics()))
        self.context.copies.log.read_to_end()
        self._positions = self._fetch()
        self._topic_ids = {}
        self._just_read = True

    def _plan(self, tasks: Sequence[int], limits: Limits) -> list[Lease]:
        if not self._just_read:
            self._compare(self._fetch())
        self._just_read = False
        partitions = [p for p in self._partitions() if self._tasks_of[p] in tasks]
        first = topics.beginnings(self.context.admin, partitions)
        self._fail_where_data_is_gone(first)
        starts = self._readable(self._starts(first))
        unknown = {topic for topic, _ in starts if topic not in self._topic_ids}
        self._topic_ids |= topics.ids(self.context.admin, unknown)
        short = replace(limits, lease_seconds=min(LEASE_SECONDS, limits.lease_seconds))
        return [
            self._lease(task, short, mine)
            for task in tasks
            if task not in self.failed and (mine := self._of_task(starts, task))
        ]

    def _starts(self, first: Mapping[Position, int]) -> dict[Position, int]:
        """Where to go on in each partition or, where nothing is committed, to begin."""
        positions = self._positions or {}
        starts = {p: positions[p][0] for p in first if p in positions}
        new = {p: offset for p, offset in first.items() if p not in positions}
        if new and self._from_end:
            new = topics.ends(self.context.admin, new, committed=True)
        return {**starts, **new}

    def _readable(self, starts: dict[Position, int]) -> dict[Position, int]:
        """Without what ends before the place where we stand, which is a failure of its task."""
        ends = self.context.ends.of(starts)
        doubtful = [p for p, start in starts.items() if start > ends.get(p, 0)]
        if doubtful:  # our own last lease may know more than that answer
            ends |= topics.ends(self.context.admin, doubtful, committed=False)
        for position in doubtful:
            if starts[position] > ends.get(position, starts[position]):
                self._fail_beyond_the_end(position, starts[position], ends[position])
        return {p: start for p, start in starts.items() if start <= ends.get(p, 0)}

    def _fail_beyond_the_end(self, position: Position, offset: int, end: int) -> None:
        """What comes next there would be passed over until it has grown as far, in silence."""
        topic, partition = position
        self._fail_task(
            self._tasks_of[position],
            f"UserError: {topic}-{partition} ends at offset {end}, but this connector stands at "
            f"{offset}: the topic was made anew, or has lost records. To go on, stop the "
            "connector, alter its offset (null: from the beginning), resume it.",
        )

    def _of_task(self, values: Mapping[Position, Any], task: int) -> dict[Position, Any]:
        return {p: v for p, v in values.items() if self._tasks_of[p] == task}

    def _fail_where_data_is_gone(self, first: Mapping[Position, int]) -> None:
        """Records deleted before they were read: never skipped in silence."""
        for position, (offset, _) in (self._positions or {}).items():
            begin = first.get(position)
            if begin is not None and offset < begin:
                topic, partition = position
                self._fail_task(
                    self._tasks_of[position],
                    f"UserError: {topic}-{partition} begins at offset {begin}, but this connector "
                    f"stands at {offset}: {begin - offset} offsets were deleted before they were "
                    "read. To go on from what is left, stop the connector, alter its offset to "
                    f"{begin}, resume it.",
                )

    def _lease(
        self,
        task: int,
        limits: Limits,
        starts: Mapping[Position, int],
    ) -> SinkLease:
        return SinkLease(
            **self._lease_fields(task, limits),
            group=self.group.group_id,
            group_metadata=self._metadata(),
            assignments=self._assignments(starts),
            copy_topic=self.context.copies.log.topic,
            topic_ids=self._topic_ids,
            uncommitted_starts=frozenset(self._uncommitted(starts) if self._from_end else ()),
        )

    def _uncommitted(self, starts: Mapping[Position, int]) -> list[Position]:
        return [position for position in starts if position not in (self._positions or {})]

    def _assignments(self, starts: Mapping[Position, int]) -> tuple[Assignment, ...]:
        positions = self._positions or {}
        return tuple(
            Assignment(topic, partition, start, positions.get((topic, partition), (0, ""))[1])
            for (topic, partition), start in starts.items()
        )

    def _metadata(self) -> bytes:
        if self._group_metadata is None:
            self._group_metadata = group_metadata(self.context.connection, self.group.group_id)
        return self._group_metadata

    def _absorb(self, report: Report) -> None:
        assert self._positions is not None  # noqa: S101 (read by _recover)
        self._positions.update(report.sink_positions)

    def recommit(self) -> None:
        """Commit unchanged positions again, so that the broker does not let them expire.

        ConfigError if the connector may not have its group.
        """
        with self._active():
            if self._halted.is_set():
                return
            if self.context.sink_groups.named(self.name, self.stored) != self.group:
                return  # what names its group was not looked up yet, or has changed
            groups.recommit(self.context.admin, self.group.group_id, self._fetch())
