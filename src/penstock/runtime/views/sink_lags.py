"""The lag of every sink: running, paused or stopped, here or on another worker.

Positions are the copies that every commit writes, which this worker follows in memory. End offsets
are requested only when a lag is asked for: one request for all sinks, at most every two seconds. If
Kafka does not answer quickly, the last answer is used.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock.kafka import partition_offsets
from penstock.kafka.errors import KafkaFault
from penstock.kafka.groups import Committed
from penstock.kafka.topics import PartitionId
from penstock.runtime.running.context import Context
from penstock.runtime.running.sink_plan import subscribed
from penstock.sdk.errors import ConfigError

log = logging.getLogger(__name__)

FRESH_SECONDS = 2.0
PATIENCE_SECONDS = 1.0


@dataclass(frozen=True)
class PartitionLag:
    """One partition of a sink; ``offset`` is None before its first commit."""

    topic: str
    partition: int
    offset: int | None
    end: int
    lag: int


@dataclass(frozen=True)
class _Answer:
    """Kafka's answer: the partitions of each sink, with their first and end offsets."""

    partitions: Mapping[str, list[PartitionId]] = field(default_factory=dict)
    begins: Mapping[PartitionId, int] = field(default_factory=dict)
    ends: Mapping[PartitionId, int] = field(default_factory=dict)


class SinkLags:
    """The lag of all sinks, cached. Thread-safe."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._lock = threading.Lock()
        self._answer = _Answer()
        self._asked = float("-inf")
        self._arrived = threading.Event()
        self._arrived.set()

    def refresh(self) -> None:
        """Make the result of ``of`` recent; waits at most a second for Kafka."""
        now = time.monotonic()
        with self._lock:
            if self._arrived.is_set() and now - self._asked > FRESH_SECONDS:
                self._asked = now
                self._arrived.clear()
                threading.Thread(target=self._ask, name="sink-lags", daemon=True).start()
        # Counted from the request: a thousand concurrent callers do not wait a second each.
        self._arrived.wait(max(0.0, self._asked + PATIENCE_SECONDS - now))

    def of(self, name: str) -> list[PartitionLag] | None:
        """The partitions of one sink; None for a source, and until Kafka has answered."""
        answer = self._answer
        if name not in answer.partitions:
            return None
        copies = self._committed(name)
        found = []
        for position in answer.partitions[name]:
            end = answer.ends.get(position)
            offset = copies[position][0] if position in copies else None
            begin = answer.begins.get(position) if offset is None else offset
            if end is not None and begin is not None:
                found.append(PartitionLag(*position, offset, end, max(0, end - begin)))
        return found

    def _ask(self) -> None:
        try:
            self._answer = self._found()
        except KafkaFault as error:
            log.debug("could not get the lag of sinks: %s", error)
        except Exception:
            log.exception("could not get the lag of sinks")
        finally:
            self._arrived.set()

    def _found(self) -> _Answer:
        context = self._context
        partitions = self._partitions()
        everything = {position for mine in partitions.values() for position in mine}
        if not everything:
            return _Answer(partitions)
        unread = {
            position
            for name, mine in partitions.items()
            for position in set(mine) - self._committed(name).keys()
        }
        # A partition that does not answer does not affect the lag of the others.
        return _Answer(
            partitions,
            partition_offsets.beginnings(context.admin, unread).offsets,
            partition_offsets.ends(context.admin, everything, committed=True).offsets,
        )

    def _committed(self, name: str) -> dict[PartitionId, Committed]:
        try:
            return self._context.copies.of(self._context.sink_groups.of(name))
        except ConfigError:
            return {}  # its group is not available: it does not run

    def _partitions(self) -> dict[str, list[PartitionId]]:
        context = self._context
        configs = {name: context.configs.config(name) or {} for name in context.configs.names()}
        sinks = {
            name: config for name, config in configs.items() if context.plugins.is_sink(config)
        }
        if not sinks:
            return {}
        known = context.ends.topics()
        return {name: subscribed(config, known) for name, config in sinks.items()}
