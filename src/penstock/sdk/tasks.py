"""What a connector author implements for the part that moves records.

A task object lives inside one lease, in a Python worker of Spark, on one thread:
``start`` → ``poll`` … (source) or ``open`` → ``put`` … → ``flush`` (sink) → ``stop``. The next
lease makes a new object, perhaps in another process: nothing is carried over but the committed
offsets.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from penstock.sdk.batches import SourceBatch
from penstock.sdk.offsets import OffsetReader
from penstock.sdk.records import SourceRecord


class SourceTask(ABC):
    """Reads a source from the offsets it was given."""

    connect_class: ClassVar[str] = ""
    """Kafka Connect's class name, where this task stands in for one of its tasks: it is what the
    stored task configurations name, so that Kafka Connect can run them after us."""

    @abstractmethod
    def start(self, config: Mapping[str, str], offsets: OffsetReader) -> None:
        """Open the source at ``offsets``. Called once, before anything else."""

    @abstractmethod
    def poll(self) -> SourceBatch | Sequence[SourceRecord] | None:
        """The next records, or None (or an empty sequence) when there are none just now.

        Should return within about a second; never wait for data, return None instead: the worker
        backs off. ``RetriableError`` makes the worker call again later; nothing may be lost then.
        """

    def stop(self) -> None:  # noqa: B027 (most need nothing)
        """Close everything, within 5 s. Called once, also after an error and a failed ``start``."""


@dataclass(frozen=True)
class Assignment:
    """A topic-partition that a sink task is about to write, and where it stands.

    ``offset`` is the first offset of this lease. ``metadata`` is what ``flush`` returned for the
    last commit of this partition, or "" if there was none; altering an offset keeps it.
    """

    topic: str
    partition: int
    offset: int
    metadata: str


class SinkTask(ABC):
    """Writes records to a target."""

    connect_class: ClassVar[str] = ""
    """As ``SourceTask.connect_class``."""

    wants_headers: ClassVar[bool] = True
    """False spares the cost of reading headers: the column is then null in every row."""

    wants_timestamps: ClassVar[bool] = True
    """False spares the cost of reading timestamps: they may then be null in every row."""

    def start(self, config: Mapping[str, str]) -> None:  # noqa: B027 (most need nothing)
        """Open the target, before anything else. Called again after a ``RetriableError``."""

    def open(self, assignments: Sequence[Assignment]) -> None:  # noqa: B027 (most need nothing)
        """All partitions of this task. Undo here what earlier leases wrote but never committed."""

    @abstractmethod
    def put(self, batch: pa.RecordBatch) -> None:
        """Write records of one topic-partition, in order (layout: ``penstock.sdk.batches``).

        ``RetriableError`` makes the worker call again with the same batch. ``RecordError`` names
        one row; with ``errors.tolerance=all`` the worker calls again without it. Whichever is
        raised, nothing of the batch may have been written.
        """

    @abstractmethod
    def flush(self) -> str:
        """Make durable whatever was put; offsets are committed only after this returns.

        The returned text is committed with the offsets and comes back as ``Assignment.metadata``.
        """

    def stop(self) -> None:  # noqa: B027 (most need nothing)
        """Close everything, within 5 s. Called once, also after an error."""
