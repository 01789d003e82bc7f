"""What a connector author implements for the part that moves records.

A task object lives inside one lease, in a Python worker of Spark, on one thread:
``start`` → ``poll`` … → ``finish`` → ``stop`` (source) or ``start`` → ``open`` → ``put`` … →
``flush`` → ``stop`` (sink). The next lease makes a new object, perhaps in another process: nothing
is carried over but the committed offsets.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from penstock.sdk.batches import SourceBatch
from penstock.sdk.offsets import ChangedOffset, OffsetReader
from penstock.sdk.records import SourceRecord


class SourceTask(ABC):
    """Reads a source from the offsets it was given."""

    connect_class: ClassVar[str] = ""
    """Kafka Connect's class name, where this task stands in for one of its tasks: it is what the
    stored task configurations name, so that Kafka Connect can run them after us."""

    batch_bytes: int = 4 * 1024 * 1024
    """How large the next batch should be at the most. The worker sets it before each ``poll``, to
    what the link to Kafka can take in a moment: all that a poll returns is in one transaction."""

    busy: bool = False
    """True while the task is still looking for records, in a slow listing say, when a poll has
    brought none: the source does not count as dry then, and the lease does not end for that."""

    @abstractmethod
    def start(self, config: Mapping[str, str], offsets: OffsetReader) -> None:
        """Open the source at ``offsets``. Called once, before anything else."""

    @abstractmethod
    def poll(self) -> SourceBatch | Sequence[SourceRecord] | None:
        """The next records, or None (or an empty sequence) when there are none just now.

        Should return within about a second; never wait for data, return None instead: the worker
        backs off. ``RetriableError`` makes the worker call again later; nothing may be lost then.
        ``RecordError`` is about one record that cannot be read, which the task has passed: with
        ``errors.tolerance=all`` it is skipped, its data in the dead letter topic if there is one,
        and its offset is committed.
        """

    def has_news(self) -> bool:
        """Whether ``poll`` may have records, found out at once: the status of a file, say.

        Optional, and worth it where a worker has hundreds of such tasks. After a poll without
        records the worker asks a task that has it several times a second, on another thread while
        no other method of the task runs. It polls when the answer is True, which an error counts
        as, and every second in any case.
        """
        return True

    def wake_on_news(self, wake: Callable[[], None]) -> bool:
        """Have ``wake`` called, from any thread, once there may be more than the last ``poll`` has
        seen; True if that is certain, and ``has_news`` need not be asked until then.

        Optional, for sources that tell of changes by themselves. Called after each poll without
        records, only of a task that has ``has_news``. ``wake`` never blocks, may be called for
        nothing, and does nothing after ``stop``.
        """
        return False

    def finish(self) -> Iterable[SourceBatch | Sequence[SourceRecord]]:
        """What was read ahead from the source, and no ``poll`` has returned yet.

        Called once, after the last ``poll`` of a lease that ends in order: take nothing more from
        the source. What is returned is produced and committed before ``stop``, so it should be
        little: a stop is complete within 5 s.
        """
        return ()

    def committed(self, offsets: Sequence[ChangedOffset]) -> None:  # noqa: B027 (most need nothing)
        """Records were committed, and with them these offsets: the last of each source partition,
        None for one that was forgotten.

        For sources that want to be told, a queue whose messages are acknowledged say. Called after
        every commit, in their order and on the task's thread, also between the last ``poll`` and
        ``stop``. A lease that is killed right after a commit makes no such call: what was not
        acknowledged then comes again, and the offsets given to ``start`` say that it is known. An
        error turns the task FAILED; what is committed stays so.
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


@dataclass(frozen=True)
class CommittedOffset:
    """What a sink's consumer group has committed of one topic-partition, of any task's."""

    topic: str
    partition: int
    offset: int
    metadata: str
    """What ``flush`` returned for that commit; "" for one of Kafka Connect, say."""


PartitionId = tuple[str, int]
"""A topic and the number of one of its partitions."""


@dataclass(frozen=True)
class Flushed:
    """What ``SinkTask.flush`` answers if it is more than one text for all partitions."""

    metadata: str | Mapping[PartitionId, str] = ""
    """A text to commit with every partition, or one for each. A partition that such a mapping
    leaves out keeps the text it has. Kafka takes 4096 bytes of each."""
    offsets: Mapping[PartitionId, int] | None = None
    """The offset after the last safe record of each partition; None: all that was put is safe.

    Of a partition that is left out, nothing more is safe than before. Offsets never go back, nor
    beyond what was put; where all of a partition is safe, the worker commits how far it has read.
    A text that has changed is committed even if no offset moves.
    """


class Assignments(tuple[Assignment, ...]):
    """The partitions of one sink task, and beside them all that its group has committed."""

    committed: tuple[CommittedOffset, ...]
    """Every committed offset of the group: also of other tasks' partitions, of topics that the
    connector no longer reads, and of deleted topics, as far as they are known. For a target that
    partitions share, one of these tells what was last committed."""

    epoch: int
    """Greater than that of every lease that may have had these partitions before, on whichever
    worker: a target that stores the greatest it has seen can refuse a lease that was replaced and
    does not know it yet, and the task then raises ``TakenOver``.

    It is made of the generation of the workers' group, which Kafka keeps and raises with every
    change of members, and a count within the worker. Kafka forgets the group if no worker has run
    for ``offsets.retention.minutes`` (a week), or if it is deleted: epochs then begin again. A task
    that finds a greater one can learn whether it was replaced: a text that ``flush`` returns with
    records that are held back is committed only for a lease that was not.
    """

    def __new__(
        cls,
        assignments: Iterable[Assignment] = (),
        committed: Iterable[CommittedOffset] | None = None,
        epoch: int = 0,
    ) -> Assignments:
        """Without ``committed``, those of ``assignments`` that have metadata, at their offsets."""
        made = super().__new__(cls, assignments)
        if committed is None:
            known = (a for a in made if a.metadata)
            committed = (CommittedOffset(**vars(a)) for a in known)
        made.committed = tuple(committed)
        made.epoch = epoch
        return made


class SinkTask(ABC):
    """Writes records to a target."""

    connect_class: ClassVar[str] = ""
    """As ``SourceTask.connect_class``."""

    wants_headers: ClassVar[bool] = True
    """False spares the cost of reading headers: the column is then null in every row."""

    wants_timestamps: ClassVar[bool] = True
    """False spares the cost of reading timestamps: they may then be null in every row."""

    read_from: PartitionId | None = None
    """Set by the worker before each ``put``: what ``position_of`` answers."""

    may_hold: bool = True
    """Whether ``flush`` may leave records for later. The worker sets it False before the task ends
    because of a bad record: to skip that one, a user sets an offset after it, and would skip what
    is held back as well. ``flush`` is then called until all is safe, three times at the most."""

    def start(self, config: Mapping[str, str]) -> None:  # noqa: B027 (most need nothing)
        """Open the target, before anything else. Called again after a ``RetriableError``."""

    def open(self, assignments: Assignments) -> None:  # noqa: B027 (most need nothing)
        """All partitions of this task, as a sequence of ``Assignment``.

        Undo here what earlier leases wrote but never committed. Where partitions share a target,
        ``assignments.committed`` tells what was: the partitions of this lease may not have taken
        part in the last commit.
        """

    def position_of(self, batch: pa.RecordBatch) -> PartitionId:
        """The topic-partition from which the records of ``batch`` were read, as in ``Assignment``.

        A transform may have given each of them another topic.
        """
        if self.read_from is not None:
            return self.read_from
        return batch.column("topic")[0].as_py(), batch.column("partition")[0].as_py()

    @abstractmethod
    def put(self, batch: pa.RecordBatch) -> None:
        """Write records of one topic-partition, in order (layout: ``penstock.sdk.batches``).

        ``RetriableError`` makes the worker call again with the same batch. ``RecordError`` names
        one row, the first bad one if possible; with ``errors.tolerance=all`` the worker gives all
        other rows again, in their order, in parts. Whichever is raised, nothing of the batch may
        have been written.
        """

    @abstractmethod
    def flush(self) -> str | Flushed:
        """Make durable whatever was put; offsets are committed only after this returns.

        The returned text is committed with the offsets and comes back as ``Assignment.metadata``.

        A task whose records are safe only later, with an object that is complete or a batch that is
        sent, answers with ``Flushed``: the offsets that are safe, and a text for each partition.
        What is not safe stays uncommitted, and the next lease gets it again. While records are
        held back, ``flush`` is called about once a second, and more often while none arrive;
        whenever it is called, what it returned before has been committed. So a task can commit what
        it is about to do, and do it when it is called again. The dead letter of a record that is
        not committed is written again if the lease is lost.
        """

    def stop(self) -> None:  # noqa: B027 (most need nothing)
        """Close everything, within 5 s. Called once, also after an error."""
