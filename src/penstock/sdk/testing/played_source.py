"""A worker as a source connector sees it, played in the test itself."""

from __future__ import annotations

import json
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final

from penstock.sdk.batches import SourceBatch, offsets_only
from penstock.sdk.connectors import SourceConnector
from penstock.sdk.errors import RecordError, RetriableError
from penstock.sdk.guarantees import Guarantee
from penstock.sdk.offsets import (
    ChangedOffset,
    OffsetReader,
    SourceOffset,
    SourcePartition,
    canonical,
)
from penstock.sdk.packing import pack
from penstock.sdk.sources.offset_values import checked
from penstock.sdk.tasks import SourceTask
from penstock.sdk.testing.values import values_in

DRY_POLLS: Final = 3
PAUSE: Final = 0.01
MOST_LETTERS: Final = 1000
"""With so many, a task takes the same bad record again and again."""
PATIENCE: Final = 60.0
"""Seconds after which a task that brings nothing, and is not dry either, is taken to hang."""


class SourceUnderTest(ABC):
    """A connector, and a source that tests can write to."""

    connector: ClassVar[type[SourceConnector]]
    """Tested for the guarantee that it declares. One that is at least once may repeat after a kill,
    and never lose; one that declares nothing must be exactly once."""
    finds_more: ClassVar[bool] = True
    """Set False for a connector whose tasks read what ``plan`` gave them and nothing else: what is
    added later is for the next turn, which ``look`` asks for."""

    @abstractmethod
    def config(self) -> Mapping[str, str]:
        """The connector's configuration."""

    @abstractmethod
    def write(self, numbers: Sequence[int]) -> None:
        """Add these to the source, in this order; each becomes one record."""

    @abstractmethod
    def number(self, value: Any) -> int:
        """Which of the numbers a record's value is."""

    def spoil(self) -> None:
        """Add something that cannot be read. Left out, the scenario of a bad record is skipped."""
        raise NotImplementedError


class PlayedSource:
    """One connector on a worker: its committed offsets and what was delivered outlive its turns."""

    def __init__(
        self, source: SourceUnderTest, tasks: int = 1, more: Mapping[str, str] | None = None
    ) -> None:
        """``more`` is added to the source's configuration."""
        self.source = source
        self.tasks = tasks
        self._more = dict(more or {})
        self.delivered: list[int] = []
        """The numbers of committed records."""
        self.history: list[dict[str, tuple[SourcePartition, SourceOffset]]] = []
        """The committed offsets after each commit."""
        self.offsets: dict[str, tuple[SourcePartition, SourceOffset]] = {}
        self.letters: list[RecordError] = []
        """What could not be read, where the configuration has ``errors.tolerance=all``."""

    def config(self) -> dict[str, str]:
        """The configuration with which it runs."""
        return {**self.source.config(), **self._more}

    @property
    def exactly_once(self) -> bool:
        """Whether nothing may be delivered twice, by what the connector declares."""
        return self.source.connector.guarantee_of(self.config()) is not Guarantee.AT_LEAST_ONCE

    @property
    def tolerant(self) -> bool:
        """Whether records that cannot be read are passed over."""
        return self.config().get("errors.tolerance") == "all"

    def reader(self) -> OffsetReader:
        """What is committed, as a task gets it: through JSON."""
        return OffsetReader(json.loads(json.dumps(list(self.offsets.values()))))

    def look(self) -> bool | None:
        """What the connector's look says about what is committed."""
        connector = self._started()
        try:
            return connector.look(self.reader())
        finally:
            connector.stop()

    def turn(self, *, polls: int | None = None, killed: bool = False) -> None:
        """Run all tasks until they are dry, or for so many polls that bring something.

        Then they are told to finish, or ``killed``: what was polled last is produced and never
        committed, and no task hears of it.
        """
        connector = self._started()
        try:
            leases = [Lease(self, config) for config in self.task_configs(connector)]
            try:
                for lease in leases:
                    lease.run(polls, killed)
            finally:
                for lease in leases:
                    lease.task.stop()
        finally:
            connector.stop()

    def _started(self) -> SourceConnector:
        connector = self.source.connector()
        connector.start(self.config())
        return connector

    def task_configs(self, connector: SourceConnector) -> list[dict[str, str]]:
        """What the leases of the coming turn get."""
        configs = connector.task_configs(self.tasks)
        assert len(configs) <= self.tasks, "task_configs answers with more tasks than it may"
        plan = connector.plan(self.reader(), list(range(len(configs))))
        if plan is None:
            return configs
        assert len(plan) == len(configs), "plan answers with one mapping for each task"
        return [{**config, **more} for config, more in zip(configs, plan, strict=True)]

    def tell(self, error: RecordError) -> None:
        """Of one more record that could not be read."""
        self.letters.append(error)
        assert len(self.letters) < MOST_LETTERS, f"it does not go on behind the record: {error}"

    def commit(self, batches: Iterable[SourceBatch]) -> list[ChangedOffset]:
        """Records and offsets of these count from now on; the offsets."""
        changed: dict[str, ChangedOffset] = {}
        for batch in batches:
            self.delivered += [self.source.number(value) for value in values_in(batch.records)]
            for partition, offset in batch.offsets:
                moved = None if offset is None else checked(offset)
                changed[canonical(partition)] = checked(partition), moved
        kept = {text: known for text, known in self.offsets.items() if text not in changed}
        self.offsets = {**kept, **{t: (p, o) for t, (p, o) in changed.items() if o is not None}}
        self.history.append(self.offsets)
        return list(changed.values())


class Lease:
    """One task, from its start to its end."""

    def __init__(self, worker: PlayedSource, config: Mapping[str, str]) -> None:
        self._worker = worker
        self._config = config
        self.task: SourceTask = worker.source.connector.task_class()

    def run(self, polls: int | None, killed: bool) -> None:
        """Poll and commit, poll by poll."""
        self.task.start(self._config, self._worker.reader())
        while (polls is None or polls > 0) and (batches := self.next_batches()):
            polls = None if polls is None else polls - 1
            if killed and polls == 0:
                return
            self.commit(batches)
        if not killed:
            for rest in self.task.finish():
                self.commit(_as_batches(rest))

    def commit(self, batches: list[SourceBatch]) -> None:
        """Commit, and tell the task."""
        self.task.committed(self._worker.commit(batches))

    def next_batches(self) -> list[SourceBatch]:
        """What the next poll brings that brings something; nothing once the source is dry."""
        dry, until = 0, time.monotonic() + PATIENCE
        while dry < DRY_POLLS:
            if batches := self._poll():
                return batches
            dry = 0 if self.task.busy else dry + 1
            assert time.monotonic() < until, "the task neither brings records nor gets dry"
            time.sleep(PAUSE)
        return []

    def _poll(self) -> list[SourceBatch]:
        try:
            return _as_batches(self.task.poll())
        except RetriableError:
            return []
        except RecordError as error:
            if not self._worker.tolerant:
                raise
            self._worker.tell(error)
            return [offsets_only(_behind(error))]


def _behind(error: RecordError) -> list[ChangedOffset]:
    if error.source_partition is None:
        return []
    return [(error.source_partition, error.source_offset)]


def _as_batches(polled: Any) -> list[SourceBatch]:
    if polled is None:
        return []
    return [polled] if isinstance(polled, SourceBatch) else pack(polled)
