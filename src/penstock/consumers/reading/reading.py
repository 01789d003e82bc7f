"""Reads some partitions from given offsets on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from penstock.consumers.reading.fetching import READER_SETTINGS, Fetcher
from penstock.consumers.reading.progress import Batch, Offsets
from penstock.kafka import clients
from penstock.kafka.clients import Connection


@dataclass(frozen=True)
class Plan:
    """What is to be read, in whichever form."""

    connection: Connection
    topic: str
    starts: Mapping[int, int]
    when_gone: Callable[[int], int]
    """Where to go on in a partition whose next record was deleted."""
    settings: Mapping[str, Any]
    stops: Mapping[int, int]
    """Records at or behind these offsets are not handed out; without any, it never ends."""
    committed: bool


class Stops:
    """Where to end in each partition, if anywhere."""

    def __init__(self, starts: Mapping[int, int], stops: Mapping[int, int]) -> None:
        self._stops = dict(stops)
        self._left = {p for p, stop in self._stops.items() if starts[p] < stop}

    @property
    def reached(self) -> bool:
        """Whether every partition has been read to its stop."""
        return bool(self._stops) and not self._left

    def of(self, partition: int) -> int:
        """The first offset of a partition that is not to be handed out."""
        return self._stops[partition]

    def passed_by(self, offsets: Offsets) -> bool:
        """Take note that reading has come to ``places``; whether that is too far anywhere."""
        if not self._stops:
            return False
        self._left -= {p for p, offset in offsets.items() if offset >= self._stops[p]}
        return any(offset > self._stops[p] for p, offset in offsets.items())

    def cut(self, offsets: Mapping[int, int]) -> Offsets:
        """These places, none of them behind its stop."""
        return {p: min(offset, self._stops[p]) for p, offset in offsets.items()}


class Reading:
    """Reads a topic until it is closed. Belongs to one thread at a time."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._stops = Stops(plan.starts, plan.stops)
        self._fetcher = self._open(dict(plan.starts))

    def _open(self, starts: Offsets) -> Fetcher:
        plan = self._plan
        chosen = {**READER_SETTINGS, **plan.settings}
        consumer = clients.reader(plan.connection, committed=plan.committed, **chosen)
        fetcher = Fetcher(consumer, plan.topic, plan.connection.reading_as, plan.when_gone)
        fetcher.begin(starts)
        return fetcher

    @property
    def finished(self) -> bool:
        """Whether every partition has been read to its stop."""
        return self._stops.reached

    def take(self, patience: float) -> Batch:
        """What is there; waits up to ``patience`` seconds for a first record."""
        return self._stopped(self._fetcher.take(patience))

    def extend(self, starts: Offsets) -> None:
        """Read these partitions, too."""
        self._fetcher.go_on_at(starts)

    def fetch_anew(self, offsets: Offsets) -> None:
        """Begin again at ``offsets``, which is where it has come to, with another client."""
        starts = self._fetcher.starts | offsets
        self.close()
        self._fetcher = self._open(starts)

    def close(self) -> None:
        """Leave nothing behind."""
        self._fetcher.consumer.close()

    def _stopped(self, batch: Batch) -> Batch:
        """Without what lies behind the stops."""
        if not self._stops.passed_by(batch.offsets(batch.size)):
            return batch
        stop = self._stops.of
        messages = [m for m in batch.messages if (m.offset() or 0) < stop(m.partition() or 0)]
        return Batch(messages, self._stops.cut(batch.ends))
