"""Reads some partitions from given offsets on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from penstock.consumers.fetching import READER_SETTINGS, Fetcher
from penstock.consumers.progress import Batch, Places
from penstock.kafka import clients
from penstock.kafka.clients import Connection


class Stops:
    """Where to end in each partition, if anywhere."""

    def __init__(self, starts: Mapping[int, int], stops: Mapping[int, int] | None) -> None:
        self._stops = dict(stops or {})
        self._left = {p for p, stop in self._stops.items() if starts[p] < stop}

    @property
    def reached(self) -> bool:
        """Whether every partition has been read to its stop."""
        return bool(self._stops) and not self._left

    def of(self, partition: int) -> int:
        """The first offset of a partition that is not to be handed out."""
        return self._stops[partition]

    def passed_by(self, places: Places) -> bool:
        """Take note that reading has come to ``places``; whether that is too far anywhere."""
        if not self._stops:
            return False
        self._left -= {p for p, place in places.items() if place >= self._stops[p]}
        return any(place > self._stops[p] for p, place in places.items())

    def cut(self, places: Mapping[int, int]) -> Places:
        """These places, none of them behind its stop."""
        return {p: min(place, self._stops[p]) for p, place in places.items()}


class Reading:
    """Reads on and on. Belongs to one thread at a time."""

    def __init__(
        self,
        connection: Connection,
        topic: str,
        starts: Mapping[int, int],
        *,
        when_gone: Callable[[int], int],
        settings: Mapping[str, Any],
        stops: Mapping[int, int] | None = None,
        committed: bool = True,
    ) -> None:
        """``when_gone`` says where to go on in a partition whose next record was deleted.

        With ``stops``, what lies at or behind them is not handed out.
        """
        self._stops = Stops(starts, stops)
        chosen = {**READER_SETTINGS, **settings}
        consumer = clients.reader(connection, committed=committed, **chosen)
        self._fetcher = Fetcher(consumer, topic, connection.reading_as, when_gone)
        self._fetcher.begin(dict(starts))

    @property
    def finished(self) -> bool:
        """Whether every partition has been read to its stop."""
        return self._stops.reached

    def take(self, patience: float) -> Batch:
        """What is there; waits up to ``patience`` seconds for a first record."""
        return self._stopped(self._fetcher.take(patience))

    def extend(self, starts: Places) -> None:
        """Read these partitions, too."""
        self._fetcher.go_on_at(starts)

    def close(self) -> None:
        """Leave nothing behind."""
        self._fetcher.consumer.close()

    def _stopped(self, batch: Batch) -> Batch:
        """Without what lies behind the stops."""
        if not self._stops.passed_by(batch.places(batch.size)):
            return batch
        stop = self._stops.of
        messages = [m for m in batch.messages if (m.offset() or 0) < stop(m.partition() or 0)]
        return Batch(messages, self._stops.cut(batch.ends))
