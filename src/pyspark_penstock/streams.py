"""Streams of topics. Spark's checkpoint says where a stream stands, and is the only truth of that.

Offsets are those of Spark's Kafka source: ``{"topic": {"0": 23}}``, the next record of every
partition. A batch is an exact range, so that one that Spark repeats has the same records. PySpark
4.0 has no admission control: a batch goes to the end of the topic, however far that is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from penstock.consumers.holding.keeper import Keeper
from penstock.consumers.offset import BEGINNING
from penstock.consumers.options import Gone, Strategy
from penstock.consumers.options import Options as ConsumerOptions
from penstock.consumers.reading.starting import Ranges
from penstock.consumers.topic import find_topic
from penstock.engine.frames.topic_frame import RangePartition, record_batches
from penstock.kafka.clients import GroupAdmin
from penstock.kafka.range_reader import Range
from pyspark_penstock.options import OptionError, TopicOptions
from pyspark_penstock.topics import Log, Places, admin_of, refuse_other_schema


def stream_reader(options: TopicOptions, schema: StructType) -> DataSourceStreamReader:
    """With or without a name."""
    refuse_other_schema(options, schema)
    return TopicStream(options) if options.consumer is None else ConsumerStream(options)


class TopicStream(DataSourceStreamReader):
    """A stream of topics. Picklable until it is asked for offsets, which one process does."""

    def __init__(self, options: TopicOptions) -> None:
        self._options = options
        self._admin: GroupAdmin | None = None

    def _log(self) -> Log:
        self._admin = self._admin or admin_of(self._options.connection)
        return Log(self._admin, self._options.topics)

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 (Spark's)
        """Asked where there is no checkpoint yet."""
        return _told(self._log().at(self._options.starting, "startingOffsets"))

    def latestOffset(self) -> dict[str, Any]:  # noqa: N802 (Spark's)
        """The last stable offsets."""
        return _told(self._log().end)

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """A task for each topic-partition with something new."""
        begins, ends = _heard(start), _heard(end)
        log = self._log() if ends.keys() - begins.keys() else None
        ranges = [
            # A partition that was added meanwhile begins with its first record.
            Range(*p, begins[p] if p in begins else log.first.get(p, 0) if log else 0, stop)
            for p, stop in sorted(ends.items())
        ]
        for each in ranges:
            _refuse_backwards(each)
        return [RangePartition(each) for each in ranges if each.count]

    def read(self, partition: InputPartition | None) -> Iterator[pa.RecordBatch]:
        """The records of one range."""
        if isinstance(partition, RangePartition):
            options = self._options
            yield from record_batches(options.connection, partition.range, headers=options.headers)

    def commit(self, end: dict[str, Any]) -> None:
        """Spark's checkpoint has it: nothing else has to."""

    def stop(self) -> None:
        """The client ends with its process."""


class ConsumerStream(TopicStream):
    """A stream under a consumer's name, which it holds while it runs: no other reader can use it.

    A stream without a checkpoint begins where the name stands; one with a checkpoint goes on there.
    The name follows: it is moved when Spark says that a batch is done, which is when it begins the
    next. So it never passes a record that was not processed, and may be one batch late.
    """

    def __init__(self, options: TopicOptions) -> None:
        super().__init__(options)
        self._keeper: Keeper | None = None
        self._stands: dict[int, int] = {}

    def _held(self) -> Keeper:
        """Only one process asks for offsets: that one holds the name."""
        if self._keeper is None:
            options = self._options
            admin = admin_of(options.connection)
            topic = find_topic(admin, options.topics[0])
            keeper = Keeper(_consumer_options(options), options.connection, admin, topic)
            keeper.hold()
            try:
                self._stands = keeper.starts(Ranges(options.connection, admin, topic))
                keeper.register(self._stands)
            except BaseException:
                keeper.release(leave=True)
                raise
            self._keeper = keeper
        return self._keeper

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 (Spark's)
        """Where the name stands."""
        topic = self._held().topic.name
        return {topic: {str(p): offset for p, offset in sorted(self._stands.items())}}

    def latestOffset(self) -> dict[str, Any]:  # noqa: N802 (Spark's)
        """The last stable offsets; the name is seen to be in use. Fenced if it was taken over."""
        self._held().store(self._stands)
        return super().latestOffset()

    def commit(self, end: dict[str, Any]) -> None:
        """Move the name there."""
        self._stands = {p: offset for (_, p), offset in _heard(end).items()}
        keeper = self._held()
        keeper.store(self._stands)
        keeper.flush()

    def stop(self) -> None:
        """Let go of the name."""
        if self._keeper is None:
            return
        keeper, self._keeper = self._keeper, None
        try:
            if not keeper.fenced:
                keeper.store(self._stands, released=True)
                keeper.flush()
        finally:
            keeper.release()


def _consumer_options(options: TopicOptions) -> ConsumerOptions:
    return ConsumerOptions(
        topic=options.topics[0],
        name=options.consumer,
        start=BEGINNING,
        strategy=Strategy.MANUAL,
        when_gone=Gone.FAIL,
        take_over=options.take_over,
    )


def _refuse_backwards(wanted: Range) -> None:
    if wanted.stop < wanted.start:
        raise OptionError(
            f"partition {wanted.partition} of {wanted.topic} ends before offset {wanted.start}, "
            "where the checkpoint stands: the topic was deleted and created again. Begin with a "
            "new checkpoint."
        )


def _told(places: Places) -> dict[str, Any]:
    told: dict[str, Any] = {}
    for (topic, partition), offset in sorted(places.items()):
        told.setdefault(topic, {})[str(partition)] = offset
    return told


def _heard(told: dict[str, Any]) -> Places:
    return {(t, int(p)): offset for t, found in told.items() for p, offset in found.items()}
