"""A worker as a sink connector sees it, played in the test itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import pyarrow as pa

from penstock.sdk.batches import record_batch
from penstock.sdk.connectors import SinkConnector
from penstock.sdk.packing import column
from penstock.sdk.schema import Schema
from penstock.sdk.tasks import Assignment, Assignments, CommittedOffset, Flushed, SinkTask

TOPIC = "numbers"
MOST_FLUSHES = 3


class SinkUnderTest(ABC):
    """A connector, and a target that tests can look into."""

    connector: ClassVar[type[SinkConnector]]
    exactly_once: ClassVar[bool] = True
    """Set False for a sink that may write a record again after a kill; it may never lose one."""
    partitions: ClassVar[int] = 1
    """How many partitions of the topic a task can have with the guarantee above."""
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


class PlayedSink:
    """One sink on a worker: the topic's records, and what is committed of each partition."""

    def __init__(self, sink: SinkUnderTest) -> None:
        self.sink = sink
        self._log: dict[int, list[int]] = {p: [] for p in range(sink.partitions)}
        self._committed: dict[int, tuple[int, str]] = {}
        self._leases = 0

    def produce(self, numbers: Sequence[int]) -> None:
        """Add records to the topic, spread over its partitions."""
        for number in numbers:
            self._log[number % self.sink.partitions].append(number)

    def lease(self, *, most: int | None = None, killed_at: str = "") -> None:
        """One task: open, put ``most`` records of each partition, flush, commit, stop.

        ``killed_at`` "put" or "flush" ends it right after that, without a commit. As a worker
        does, it flushes and commits until the task holds nothing back, or three times.
        """
        task = self._started()
        try:
            task.open(self._assignments())
            read = self._put(task, most)
            if killed_at == "put":
                return
            for _ in range(MOST_FLUSHES):
                flushed = task.flush()
                if killed_at == "flush":
                    return
                self._commit(flushed, read)
        finally:
            task.stop()

    def _commit(self, answer: str | Flushed, read: Mapping[int, int]) -> None:
        flushed = answer if isinstance(answer, Flushed) else Flushed(answer)
        for partition, end in read.items():
            before, text = self._position(partition)
            if not isinstance(flushed.metadata, str):
                text = flushed.metadata.get((TOPIC, partition), text)
            else:
                text = flushed.metadata
            offsets = {(TOPIC, partition): end} if flushed.offsets is None else flushed.offsets
            self._committed[partition] = offsets.get((TOPIC, partition), before), text

    def _started(self) -> SinkTask:
        config = {**self.sink.config(), "topics": TOPIC}
        connector = self.sink.connector()
        connector.start(config)
        (task_config,) = connector.task_configs(1)
        connector.stop()
        task = self.sink.connector.task_class()
        task.start(task_config)
        return task

    def _position(self, partition: int) -> tuple[int, str]:
        return self._committed.get(partition, (0, ""))

    def _assignments(self) -> Assignments:
        given = [Assignment(TOPIC, p, *self._position(p)) for p in self._log]
        self._leases += 1
        committed = [CommittedOffset(TOPIC, p, *c) for p, c in self._committed.items()]
        return Assignments(given, committed, self._leases)

    def _put(self, task: SinkTask, most: int | None) -> dict[int, int]:
        """How far each partition was read."""
        read = {}
        for partition, numbers in self._log.items():
            start, _ = self._position(partition)
            chosen = numbers[start:][:most]
            if chosen:
                task.put(self._batch(partition, start, chosen))
            read[partition] = start + len(chosen)
        return read

    def _batch(self, partition: int, start: int, numbers: list[int]) -> pa.RecordBatch:
        values = [self.sink.value(number) for number in numbers]
        array, field = column("value", self.sink.value_schema, values)
        return record_batch(
            TOPIC,
            array,
            value_field=field,
            partition=pa.array([partition] * len(numbers), pa.int32()),
            timestamp=pa.array([1_700_000_000_000] * len(numbers), pa.int64()),
            offset=pa.array(range(start, start + len(numbers)), pa.int64()),
        )
