"""What the worker and a lease send each other: the order, and the report.

A lease is the right to run one task from the positions it was given. It runs on a thread of a
carrier, commits many short transactions, and reports as data, never as an exception, how it ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from penstock.config.references import Providers
from penstock.engine.lease.new_topics import TopicGroup
from penstock.engine.lease.pace import Pace
from penstock.engine.lease.tally import Tally
from penstock.engine.pipeline.pipeline import Pipeline
from penstock.engine.pipeline.recipe import Recipe
from penstock.kafka.clients import Connection
from penstock.kafka.generation import generation_of
from penstock.kafka.transactions import GroupOffsets
from penstock.logs.levels import Levels
from penstock.sdk.tasks import Assignment, CommittedOffset, SinkTask, SourceTask

KeyedOffset = tuple[bytes, Mapping[str, Any], Mapping[str, Any]]
"""Original key bytes in the offsets topic, source partition, source offset."""

MovedOffset = tuple[bytes, Mapping[str, Any], Mapping[str, Any] | None]
"""The same after a commit; None: the source partition was forgotten."""


Range = tuple[str, int, int, int]
"""Topic, partition, first offset, and the one after the last."""


class End(StrEnum):
    """How a lease ended, which decides what the worker does next."""

    DONE = "done"
    """Everything it took is committed; its positions are the new positions."""
    LOST = "lost"
    """Replaced, orphaned or unsure: fence, read the offsets, plan again."""
    FAILED = "failed"
    """The task's own error: it turns FAILED."""


@dataclass(frozen=True)
class Limits:
    """Limits of a lease and of its transactions."""

    lease_seconds: float = 60.0
    transaction_seconds: float = 1.0
    transaction_records: int = 100_000
    transaction_bytes: int = 32 * 1024 * 1024
    commit_when_dry: bool = True
    """Whether a transaction ends early if there is nothing more to put into it."""
    poll_pause: float = 0.05


@dataclass(frozen=True)
class Membership:
    """The worker's membership in its group, which is part of every transaction."""

    metadata: bytes
    topic: str

    def offsets(self) -> GroupOffsets:
        """With these in a transaction, the broker rejects a worker that was replaced."""
        return GroupOffsets(self.metadata, [(self.topic, 0, 0, "")])

    def follows(self, earlier: Membership) -> bool:
        """Whether this one is of a later generation of the group."""
        return generation_of(self.metadata) > generation_of(earlier.metadata)


@dataclass(frozen=True)
class Tolerance:
    """What happens to a record that cannot be handled."""

    all_errors: bool = False
    dead_letter_topic: str = ""
    context_headers: bool = False
    dead_letter_replication: int = -1
    log_errors: bool = False
    log_messages: bool = False
    retry_seconds: float = 0.0
    retry_delay_max: float = 60.0


@dataclass(frozen=True)
class Lease:
    """What both kinds of lease need."""

    lease_id: str
    previous: str | None
    """The lease that committed last for this task: its process may reuse its producer."""
    connector: str
    task: int
    config: Mapping[str, str]
    pipeline: Pipeline | Recipe
    """A recipe in transit, the pipeline once the lease runs."""
    connection: Connection
    transactional_id: str
    membership: Membership
    limits: Limits
    secrets: tuple[str, ...]
    producer_settings: Mapping[str, Any]
    log_levels: Levels = field(default_factory=Levels, kw_only=True)
    tolerance: Tolerance = field(default_factory=Tolerance, kw_only=True)
    providers: Providers = field(default_factory=Providers, kw_only=True)
    """The config providers with which the lease itself resolves the references in ``config``."""
    consumer_settings: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    admin_settings: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    overrides: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    """``producer.override.*`` and the like, as the connector's config has them."""
    pace: Pace = field(default_factory=Pace, kw_only=True)
    """What the task's previous leases have learned about the link."""


@dataclass(frozen=True)
class SourceLease(Lease):
    """An order to read a source from ``positions``."""

    task_class: type[SourceTask]
    offsets_topic: str
    positions: tuple[KeyedOffset, ...]
    partition_keys: tuple[str, ...] = ()
    topic_groups: tuple[TopicGroup, ...] = ()
    """How to create missing topics; none leaves it to the broker."""


@dataclass(frozen=True)
class SinkLease(Lease):
    """An order to write the records from ``assignments`` on, all partitions of the task."""

    task_class: type[SinkTask]
    group: str
    group_metadata: bytes
    assignments: tuple[Assignment, ...]
    copy_topic: str
    """Compacted topic with a copy of the group's offsets, in case they expire."""
    copy_partition: int = 0
    """The partition of that topic for this connector."""
    topic_ids: Mapping[str, str] = field(default_factory=dict)
    """Stored in the copy, which is not valid for a topic that was recreated."""
    uncommitted_starts: frozenset[tuple[str, int]] = frozenset()
    """Partitions whose assigned offset is not committed in the group, and could be a different one
    next time: to be committed immediately."""
    committed: tuple[CommittedOffset, ...] = ()
    """All that the group has committed."""
    epoch: int = 0
    """See ``Assignments.epoch``."""


@dataclass(frozen=True)
class Report:
    """How a lease ended. ``positions`` are those it committed and that changed."""

    task: int
    lease_id: str
    end: End
    positions: tuple[MovedOffset, ...] = ()
    sink_positions: Mapping[tuple[str, int], tuple[int, str]] = field(default_factory=dict)
    records: int = 0
    payload_bytes: int = 0
    dead_letters: int = 0
    topics: frozenset[str] = frozenset()
    """Topics that were used but may not have been reported by a heartbeat."""
    trace: str = ""
    uncommitted: tuple[Range, ...] = ()
    """What a sink was given and has not committed."""
    tally: Tally = field(default_factory=Tally)
    pace: Pace | None = None
    """What is now known about the link."""
