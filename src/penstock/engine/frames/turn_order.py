"""One turn: what is to be done, and how it ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from penstock.engine.frames.frame_lease import FrameLease
from penstock.engine.lease.lease import Report
from penstock.kafka.clients import Connection
from penstock.sdk.connectors import TopicPartition
from penstock.sdk.frames import FrameTurn, TopicRange

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from penstock.engine.frames.task_frame import Part

Build = Callable[["DataFrame", FrameTurn], "DataFrame"]


@dataclass(frozen=True)
class TurnOrder:
    """A turn of one connector that ends in Kafka: all its tasks with something to do."""

    connector: str
    leases: tuple[FrameLease, ...]
    build: Build
    side_ends: Mapping[TopicPartition, int] = field(default_factory=dict)
    headers: bool = True
    small: bool = False
    """Whether so few records are expected that they may pass through the worker."""
    check: bool = True
    """Whether the plan of ``build`` is still to be checked for shuffles."""
    whole: bool = False
    """Whether there is never more than one task, so that Spark groups without a shuffle."""

    @property
    def connection(self) -> Connection:
        """How the brokers are reached."""
        return self.leases[0].connection

    @property
    def parts(self) -> list[Part]:
        """What each task reads."""
        return [(lease.task, lease.ranges) for lease in self.leases]

    def told(self, *, small: bool, probe: bool = False) -> FrameTurn:
        """What ``build`` gets; a probe of its plan reads nothing."""
        told = told_turn(self.leases, self.side_ends, small=small)
        return replace(told, ranges=()) if probe else told

    def __str__(self) -> str:
        offsets = sum(lease.offsets for lease in self.leases)
        topics = sorted({r.topic for lease in self.leases for r in lease.ranges})
        return f"{self.connector}: a turn over {offsets} offsets of {', '.join(topics)}"[:500]


def told_turn(
    leases: tuple[FrameLease, ...], side_ends: Mapping[TopicPartition, int], *, small: bool
) -> FrameTurn:
    """What ``build`` gets for a turn of these tasks."""
    first = leases[0]
    brokers = first.connection.bootstrap_servers
    kafka = {"bootstrap.servers": brokers, **first.connection.security}
    return FrameTurn(first.connector, topic_ranges(leases), side_ends, kafka, small=small)


def topic_ranges(leases: tuple[FrameLease, ...]) -> tuple[TopicRange, ...]:
    """All ranges of these, in order."""
    found = sorted(r for lease in leases for r in lease.ranges)
    return tuple(TopicRange(r.topic, r.partition, r.start, r.stop) for r in found)


@dataclass(frozen=True)
class TurnOutcome:
    """How a turn ended: the reports of its tasks. A task without one has to be looked after."""

    reports: tuple[Report, ...] = ()
    small: bool = False
    checked: bool = False
    """Whether the plan of ``build`` is known to be without shuffles."""
    input_bytes: int = 0
    """What was read, if that is known."""
    plan: str = ""
    """Spark's plan of what was built, in the first turn."""
