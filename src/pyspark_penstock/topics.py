"""Which ranges of topics a batch reads: fixed when Spark plans it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from confluent_kafka import KafkaException
from pyspark.sql.types import StructType

from penstock.consumers.reading.starting import stored_offsets
from penstock.consumers.registry.registry import Registry
from penstock.consumers.topic import find_topic
from penstock.engine.frames.ranges import cut
from penstock.engine.frames.topic_frame import KAFKA, RangesReader, columns
from penstock.kafka import clients, topics
from penstock.kafka.clients import Connection, GroupAdmin
from penstock.kafka.errors import describe
from penstock.kafka.range_reader import Range
from penstock.kafka.topics import PartitionId
from pyspark_penstock.options import Offsets, OptionError, TopicOptions

Places = dict[PartitionId, int]


class Log:
    """What topics hold at this moment."""

    def __init__(self, admin: GroupAdmin, names: Iterable[str]) -> None:
        """NoSuchTopic."""
        found = [find_topic(admin, name) for name in names]
        self.partitions = [(topic.name, p) for topic in found for p in sorted(topic.partitions)]
        self.first: Places = topics.beginnings(admin, self.partitions)
        self.end: Places = topics.ends(admin, self.partitions, committed=True)

    def at(self, place: str | Offsets, option: str) -> Places:
        """The offsets that an option means; a partition it does not name begins with the first
        record, or ends with the last."""
        if isinstance(place, str):
            return dict(self.first if place == "earliest" else self.end)
        named = {(t, p): offset for t, found in place.items() for p, offset in found.items()}
        if missing := sorted(named.keys() - set(self.partitions)):
            topic, partition = missing[0]
            raise OptionError(f'"{option}": topic "{topic}" has no partition {partition}')
        return {**(self.first if option == "startingOffsets" else self.end), **named}

    def ranges(
        self, starts: Mapping[PartitionId, int], ends: Mapping[PartitionId, int]
    ) -> list[Range]:
        """From one to the other; where something of that was deleted, OptionError says so."""
        return [self._range(p, starts[p], ends[p]) for p in self.partitions]

    def _range(self, position: PartitionId, start: int, stop: int) -> Range:
        first, end = self.first[position], self.end[position]
        where = f"partition {position[1]} of {position[0]}"
        if start < stop and start < first:
            raise OptionError(f"offset {start} of {where} was deleted: it begins with {first}")
        if stop > end:
            raise OptionError(f"{where} ends with offset {end - 1}: {stop} is not written yet")
        return Range(*position, min(start, stop), stop)


def admin_of(connection: Connection) -> GroupAdmin:
    """A client to ask with; OptionError if a setting of Kafka's is not one, or has a bad value."""
    try:
        return clients.admin(connection)
    except KafkaException as error:
        raise OptionError(f"{KAFKA}*: {describe(error)}") from None


def topic_reader(options: TopicOptions, schema: StructType) -> RangesReader:
    """Reads what there is when it is made: to the last stable offsets, unless told otherwise."""
    refuse_other_schema(options, schema)
    admin = admin_of(options.connection)
    log = Log(admin, options.topics)
    starts = _starts(options, admin, log)
    ranges = log.ranges(starts, log.at(options.ending, "endingOffsets"))
    pieces = cut(ranges, options.records_per_task) if options.records_per_task else ranges
    return RangesReader(options.connection, pieces, headers=options.headers)


def _starts(options: TopicOptions, admin: GroupAdmin, log: Log) -> Places:
    if options.consumer is None:
        return log.at(options.starting, "startingOffsets")
    topic = find_topic(admin, options.topics[0])
    snapshot = Registry(options.connection, admin).read()
    stored = stored_offsets(admin, snapshot, options.consumer, topic)
    return {**log.first, **{(topic.name, p): offset for p, offset in stored.items()}}


def refuse_other_schema(options: TopicOptions, schema: StructType) -> None:
    """OptionError if a topic's records are wanted in another shape."""
    wanted = columns(headers=options.headers)
    if [(f.name, f.dataType) for f in schema] != [(f.name, f.dataType) for f in wanted]:
        raise OptionError(
            f"the records of a topic have the columns {', '.join(wanted.names)}: leave out "
            ".schema(...), and decode value with from_json, from_csv or cast"
        )
