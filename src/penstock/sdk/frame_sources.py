"""What a connector author implements whose source Spark itself reads: files, tables, lakes.

A frame source has source partitions and offsets as every source has, and no task that polls.
Instead the worker asks it, turn by turn, what each task is to read: a DataFrame, whose rows Spark
brings to a last stage in an executor, in one partition for each task. There a ``FrameReading`` says
which records and which offsets the rows are, and both are produced in transactions of about a
second, under the same rules as any source's. Transforms, converters, ``errors.tolerance`` and
``topic.creation`` of the configuration apply as to any source.

Calls come one at a time, on the worker: ``start`` → ``task_configs``, then ``look``, and for each
turn ``plan_turn`` and, once it has ended, ``turned`` or ``failed`` → ``stop``. ``plan_turn`` and
``failed`` run on a thread of the turn's, where Spark may be asked; ``look`` may not wait for Spark.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pyarrow as pa

from penstock.sdk.batches import SourceBatch
from penstock.sdk.connectors import SourceConnector
from penstock.sdk.errors import FatalError, RecordError
from penstock.sdk.frames import DataFrame
from penstock.sdk.offsets import OffsetReader
from penstock.sdk.tasks import SourceTask

SparkSession = Any
"""``pyspark.sql.SparkSession``, which this package does not import."""


class FrameReading(ABC):
    """Makes records of the rows of one task, in the order in which they come. Picklable.

    Lives in an executor, on one thread: ``read`` …, then ``end``. What a turn that is lost had not
    committed is planned again, and read by another object.
    """

    @abstractmethod
    def read(self, rows: pa.RecordBatch) -> Iterable[SourceBatch | RecordError]:
        """The records of these rows, with the offsets that are valid once they are delivered.

        A RecordError is a row that is no record, with the offset that passes it.
        """

    @abstractmethod
    def end(self) -> Iterable[SourceBatch | RecordError]:
        """All rows have come: the offsets after them (``penstock.sdk.offsets_only``)."""


@dataclass(frozen=True)
class FrameShare:
    """What one task is to read in a turn."""

    task: int
    reading: FrameReading
    frame: DataFrame | None = None
    """Its rows; of the same columns for all tasks. Read in one piece, by one task of Spark's, and
    in the order of the frame's partitions. None where only offsets move."""
    about: str = ""
    """What it is, for people who look at Spark's jobs: ``3 files``, say."""


@dataclass(frozen=True)
class SourceTurn:
    """What ``plan_turn`` gets to know about its turn."""

    connector: str
    """The connector's name."""
    offsets: OffsetReader
    """All that is committed of the connector."""
    tasks: tuple[int, ...]
    """The tasks that may run; those that have failed are left out."""


@dataclass(frozen=True)
class SourceTurnEnd:
    """How a turn ended. What is counted here is committed."""

    tasks: Mapping[int, int] = field(default_factory=dict)
    """The records of each task that has ended well."""
    seconds: float = 0.0


class FrameSourceTask(SourceTask):
    """Stands for a task of a frame source in its stored configuration. Never run."""

    def start(self, config: Mapping[str, str], offsets: OffsetReader) -> None:
        """Refused."""
        raise FatalError(
            "this connector runs as Spark jobs, and has no task: read its files or tables with "
            "Spark's own formats"
        )

    def poll(self) -> None:
        """There is nothing to poll."""


class FrameSourceConnector(SourceConnector):
    """A source that Spark reads."""

    task_class: ClassVar[type[SourceTask]] = FrameSourceTask

    @abstractmethod
    def plan_turn(self, spark: SparkSession, turn: SourceTurn) -> Sequence[FrameShare]:
        """What the tasks are to read in this turn: exact ranges, fixed here and now.

        At most one share for each of ``turn.tasks``; none if there is nothing. A plan that moves
        rows between tasks (a shuffle) is refused. RetriableError: another turn, later. Any other
        error turns the tasks FAILED.
        """

    def failed(self, text: str) -> bool:
        """Spark has failed to read what was planned, and says this.

        True if the next ``plan_turn`` leaves out what is at fault; otherwise the tasks turn FAILED
        with Spark's text.
        """
        return False

    def turned(self, end: SourceTurnEnd) -> None:
        """A turn has ended, with at least one task committed. Must be quick."""

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """``max_tasks`` tasks, which share the work of a turn."""
        return [{} for _ in range(max_tasks)]
