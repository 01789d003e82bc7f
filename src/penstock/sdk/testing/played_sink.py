"""A worker as a sink connector sees it, played in the test itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, ClassVar, Final

from penstock.sdk.connectors import SinkConnector, TopicPartition
from penstock.sdk.guarantees import Guarantee
from penstock.sdk.schema import Schema
from penstock.sdk.tasks import Assignment, Assignments, CommittedOffset
from penstock.sdk.testing.played_sink_lease import SinkLease

TOPIC: Final = "numbers"
BAD: Final = -1
"""Stands for a record that the target cannot take."""


class SinkUnderTest(ABC):
    """A connector, and a target that tests can look into."""

    connector: ClassVar[type[SinkConnector]]
    """Tested for the guarantee that it declares. One that is at least once may write a record again
    after a kill, and never lose one; one that declares nothing must be exactly once."""
    partitions: ClassVar[int] = 1
    """How many partitions of the topic a task can have with that guarantee."""
    replaces: ClassVar[bool] = False
    """Set True for a target in which a record that is written again may take its own place, as
    documents with an id do: after offsets were set back, it need not be there twice."""
    value_schema: ClassVar[Schema | None] = Schema.string()

    @abstractmethod
    def config(self) -> Mapping[str, str]:
        """The connector's configuration."""

    @abstractmethod
    def value(self, number: int) -> Any:
        """The value of a record that stands for ``number``."""

    @abstractmethod
    def written(self) -> list[int]:
        """The numbers that are in the target."""

    def bad_value(self) -> Any:
        """A value that the target cannot take. Left out, the scenario of a bad record is
        skipped."""
        raise NotImplementedError


class PlayedSink:
    """One sink on a worker: the topic's records, and what is committed of each partition."""

    def __init__(
        self, sink: SinkUnderTest, *, tasks: int = 1, partitions: int = 0, tolerant: bool = False
    ) -> None:
        self.sink = sink
        self.tasks = tasks
        self.shift = 0
        """By how many tasks each partition has moved from where it would be."""
        self.tolerant = tolerant
        """Whether ``errors.tolerance`` is all: records that are refused are passed over."""
        self.refused: list[tuple[int, int]] = []
        """Partition and offset of each record that the task has refused."""
        self.exactly_once = True
        """Whether nothing may have been written twice so far, by what the connector declares for
        its configuration, and for so many partitions of a task."""
        self.log: dict[int, list[int]] = {p: [] for p in range(partitions or sink.partitions)}
        """The topic: the numbers in each partition, by offset."""
        self.committed: dict[int, tuple[int, str]] = {}
        """Offset and text of each partition."""
        self._epoch = 0

    @property
    def config(self) -> dict[str, str]:
        """As the connector gets it."""
        tolerance = {"errors.tolerance": "all"} if self.tolerant else {}
        tasks = {"tasks.max": str(self.tasks)} if self.tasks > 1 else {}
        return {**self.sink.config(), "topics": TOPIC, **tasks, **tolerance}

    def produce(self, numbers: Sequence[int]) -> None:
        """Add records to the topic, spread over its partitions."""
        for number in numbers:
            self.log[number % len(self.log)].append(number)

    def produce_bad(self) -> tuple[int, int]:
        """Add a record that the target cannot take to the last partition; where it is."""
        partition = len(self.log) - 1
        self.log[partition].append(BAD)
        return partition, len(self.log[partition]) - 1

    def value(self, number: int) -> Any:
        """Of the record that stands for this number."""
        return self.sink.bad_value() if number == BAD else self.sink.value(number)

    def position(self, partition: int) -> tuple[int, str]:
        """The offset at which a lease of this partition begins, and the text of its last commit."""
        return self.committed.get(partition, (0, ""))

    def safe(self) -> set[int]:
        """The numbers whose offsets are committed."""
        return {n for p, numbers in self.log.items() for n in numbers[: self.position(p)[0]]}

    def lease(
        self,
        *,
        most: int | None = None,
        rounds: int = 1,
        flushes: int = 3,
        killed_at: str = "",
    ) -> None:
        """All tasks: start and open, put ``most`` records of each partition, flush and commit,
        stop.

        As a worker does, each flushes and commits until its task holds nothing back, or
        ``flushes`` times. ``rounds`` puts and commits so often. ``killed_at`` "put" or "flush" ends
        each task right after that, without a commit. A record that is refused ends the lease with
        its error, once all before it is committed, unless the worker is ``tolerant``.
        """
        with self._leases() as leases:
            for each in leases:
                each.run(most, rounds, flushes, killed_at)

    @contextmanager
    def _leases(self) -> Iterator[list[SinkLease]]:
        """All tasks are open before the first of them writes; none is left running."""
        with ExitStack() as ended:
            leases = [SinkLease(self, *given) for given in self._given()]
            for each in leases:
                ended.callback(each.stop)
                each.open()
            yield leases

    def _given(self) -> list[tuple[dict[str, str], Assignments]]:
        """The configuration and the partitions of each task that has any."""
        connector, config = self.sink.connector(), self.config
        connector.start(config)
        try:
            configs = connector.task_configs(self.tasks)
        finally:
            connector.stop()
        assert 0 < len(configs) <= self.tasks, "task_configs answers with 1 to max_tasks tasks"
        shares: list[list[Assignment]] = [[] for _ in configs]
        for partition in self.log:
            share = shares[(partition + self.shift) % len(configs)]
            share.append(Assignment(TOPIC, partition, *self.position(partition)))
        self._note_guarantee(max(map(len, shares)))
        self._epoch += 1
        committed = [CommittedOffset(TOPIC, p, *c) for p, c in self.committed.items()]
        return [
            (task_config, Assignments(share, committed, self._epoch))
            for task_config, share in zip(configs, shares, strict=True)
            if share
        ]

    def _note_guarantee(self, most_partitions: int) -> None:
        declared = self.sink.connector.guarantee_of(self.config)
        weaker = declared is Guarantee.AT_LEAST_ONCE or most_partitions > self.sink.partitions
        self.exactly_once = self.exactly_once and not weaker

    def alter(self, offsets: Mapping[int, int | None]) -> None:
        """A user sets offsets, or resets them with None. NotImplementedError if that is refused."""
        asked = {TopicPartition(TOPIC, p): offset for p, offset in offsets.items()}
        answer = self.sink.connector().alter_offsets(self.config, asked)
        changes = asked if isinstance(answer, bool) else answer
        for (_, partition), offset in changes.items():
            # The text stays: it says how far the target is written.
            _, text = self.committed.pop(partition, (0, ""))
            if offset is not None:
                self.committed[partition] = offset, text

    def move(self, offsets: Mapping[int, int]) -> None:
        """Kafka's own tools set offsets: the connector is not asked, and the texts are lost."""
        self.committed |= {p: (offset, "") for p, offset in offsets.items()}
