"""What a connector author implements whose work is a relation: a DataFrame of records to another.

A frame connector reads topics as a sink does, with the offsets of its group ``connect-<name>``,
which can be listed, altered and reset like any sink's. It has no task that is given records.
Instead the worker fixes the ranges of a turn, about a second of work, has Spark read just them, and
gives the DataFrame to ``build``; Spark plans and runs what that returns. A turn ends in Kafka, in
one transaction per task with the records and the input's offsets, or in files of a Spark format.

Transforms of the configuration do not apply, and converters only where ``decode`` asks for them:
``build`` gets and returns bytes.

Calls come one at a time, on the worker: ``start`` → ``end``, then for each turn ``side_topics``,
``decode``, ``build``, and ``turned`` once it is known how the turn ended → ``stop``. Before the
first turn that ends in Kafka, ``build`` is called with no ranges, to look at its plan. A turn that
was lost is planned again, so ``build`` may get the same ranges again. Only where ``build`` does not
return does ``stop`` come during it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, TypeAlias

import pyarrow as pa

from penstock.sdk.connectors import SinkConnector, TopicPartition
from penstock.sdk.errors import FatalError
from penstock.sdk.tasks import SinkTask

DataFrame: TypeAlias = Any
"""``pyspark.sql.DataFrame``, which this package does not import."""


class TopicRange(NamedTuple):
    """The offsets from ``start`` up to ``stop``, which is not part of it, of one partition."""

    topic: str
    partition: int
    start: int
    stop: int


@dataclass(frozen=True)
class FrameTurn:
    """What ``build`` gets to know about its turn."""

    connector: str
    """The connector's name."""
    ranges: tuple[TopicRange, ...]
    """What is read in this turn."""
    side_ends: Mapping[TopicPartition, int] = field(default_factory=dict)
    """Where the partitions of ``side_topics`` ended, all of them committed, after ``ranges`` were
    fixed. A look-up that has caught up with these knows whatever came before the records."""
    kafka: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Settings with which stages in executors reach the brokers, under the names of Kafka's
    clients: ``bootstrap.servers`` and security. There are secrets among them."""
    small: bool = False
    """Whether few records pass through the worker: they are then one partition of Spark's."""
    converted: Callable[[DataFrame, str], DataFrame] | None = field(default=None, repr=False)
    """For ``decode``: takes records and a schema as Spark writes them, and adds ``converted_key``
    as text, ``converted_value`` in that schema and ``error``, by the connector's converters. Fields
    are taken by their names. None where turns end in Kafka."""


@dataclass(frozen=True)
class TurnEnd:
    """How a turn ended. What is counted here is committed."""

    ranges: tuple[TopicRange, ...]
    """What was committed of the turn's ranges: less than was planned if some tasks were lost."""
    produced: int = 0
    bad_rows: int = 0
    """Rows with an ``error``, which were skipped."""
    errors: tuple[str, ...] = ()
    """The texts of the first of them."""
    seconds: float = 0.0
    small: bool = False


@dataclass(frozen=True)
class KafkaEnd:
    """The turn ends in Kafka: each task's rows, its input's offsets and the worker's membership are
    one transaction. No row may move between tasks, so a plan with a shuffle is refused.

    ``build`` returns a row for each record to produce:

    * ``task`` int: as it was in the row that this one comes from;
    * ``topic`` string;
    * ``key``, ``value`` binary or string; ``key`` may be left out, a null value is a tombstone;
    * optionally ``partition`` int, ``timestamp`` (timestamp, or long in milliseconds), ``headers``
      (array<struct<key:string,value:binary>>), each null where Kafka decides;
    * optionally ``error`` string: where it is not null, the row is not produced. With
      ``errors.tolerance=all`` it is counted, and its key and value become a dead letter if there is
      a topic for these; otherwise the task fails with this text, and nothing of its turn is
      committed.
    """


@dataclass(frozen=True)
class FormatEnd:
    """The turn ends in one of Spark's formats, with whatever columns ``build`` returns."""

    format: str
    path: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    partition_by: tuple[str, ...] = ()
    table: str = ""
    """Instead of ``path``, for ``iceberg``: a table in one of Spark's catalogs."""

    @property
    def target(self) -> str:
        """Where it is written; empty for a format that has it among its options."""
        return self.table or self.path


class FrameTask(SinkTask):
    """Stands for a task of a frame connector in its stored configuration. Never run."""

    def put(self, batch: pa.RecordBatch) -> None:
        """Refused."""
        raise FatalError("a frame connector runs as Spark jobs: it has no task to put records to")

    def flush(self) -> str:
        """There is nothing to flush."""
        return ""


class FrameConnector(SinkConnector):
    """Takes records from topics as a DataFrame that Spark plans."""

    task_class: ClassVar[type[SinkTask]] = FrameTask
    wants_headers: bool = True
    """False spares the cost of reading headers: the column is then missing."""
    is_whole: bool = False
    """True where ``build`` groups or sorts the records of all partitions: there is then one task,
    and ``records`` is one partition of Spark's, over which such a plan needs no shuffle. Of a small
    turn, say so with ``records.coalesce(1)``."""

    @abstractmethod
    def build(self, records: DataFrame, turn: FrameTurn) -> DataFrame:
        """What is to become of the records of one turn; runs nothing yet.

        ``records`` has the columns ``task`` int, ``key`` and ``value`` binary, ``topic`` string,
        ``partition`` int, ``offset`` long, ``timestamp`` timestamp and ``headers``
        (array<struct<key:string,value:binary>>). Its rows are those of ``turn.ranges``, in the
        order of their offsets within each partition, and all of a task's are in one partition of
        Spark's. What is to be returned is up to ``end``. An error turns the tasks FAILED.
        """

    def decode(self, records: DataFrame, turn: FrameTurn) -> DataFrame:
        """Where turns end in a format: what can be wrong with a record is found here.

        ``records`` as they are with further columns, row by row; among them ``error`` (string): why
        this record cannot be read, or null. ``build`` gets what this returns, without ``error``.
        With ``errors.tolerance=all`` it does not get such a record, which becomes a dead letter if
        there is a topic for these; otherwise the records before it are written, and the task fails.
        It may be called more than once in a turn.
        """
        return records

    def end(self) -> KafkaEnd | FormatEnd:
        """Where turns end. Asked after ``start``."""
        return KafkaEnd()

    def side_topics(self) -> Sequence[str]:
        """Topics whose ends each turn is to be told, as ``FrameTurn.side_ends``."""
        return ()

    def turned(self, done: TurnEnd) -> None:
        """A turn has ended, with at least one task committed. Must be quick."""

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """``tasks.max`` tasks, which share the partitions: as many as these use Spark best.

        Where turns end in files there is one: all of a turn is put in its place at once.
        """
        shared = isinstance(self.end(), KafkaEnd) and not self.is_whole
        return [{} for _ in range(max_tasks if shared else 1)]

    def alter_offsets(
        self, config: Mapping[str, str], offsets: Mapping[TopicPartition, int | None]
    ) -> bool | Mapping[TopicPartition, int | None]:
        """Offsets may be altered: the group's are the only ones."""
        return True
