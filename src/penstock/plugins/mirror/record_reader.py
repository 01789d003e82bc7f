"""Records of the source cluster's partitions, as batches."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pyarrow as pa
from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_END,
    TIMESTAMP_NOT_AVAILABLE,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)

from penstock.plugins.mirror.cluster_clients import (
    DENIED,
    LOGIN,
    Noted,
    make_consumer,
    problem,
    refused_logins,
)
from penstock.plugins.mirror.mirror_offsets import MirroredPartition
from penstock.plugins.mirror.mirror_settings import MirrorSettings
from penstock.sdk.batches import HEADERS, SourceBatch, offsets_only, record_batch
from penstock.sdk.errors import PenstockError, UserError
from penstock.sdk.offsets import ChangedOffset
from penstock.sdk.schema import Schema, to_field
from penstock.sdk.tasks import PartitionId

log = logging.getLogger(__name__)

PATIENCE: Final = 0.1
GONE: Final = frozenset(
    {
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError._UNKNOWN_TOPIC,
        KafkaError._UNKNOWN_PARTITION,
    }
)
WORTH_TELLING: Final = LOGIN | DENIED | {KafkaError._ALL_BROKERS_DOWN}
_NO_TOPIC: Final = "Unknown topic or partition"
_KEY: Final = to_field(Schema.bytes(optional=True), "key")
_VALUE: Final = to_field(Schema.bytes(optional=True), "value")


@dataclass
class _Taken:
    """What one call of the client has brought."""

    records: list[Message] = field(default_factory=list)
    last: dict[PartitionId, int] = field(default_factory=dict)
    """The offset up to which each partition was read."""


class RecordReader:
    """Reads partitions from where they stand. Belongs to one thread, which also closes it."""

    def __init__(
        self, settings: MirrorSettings, starts: Mapping[MirroredPartition, int | None]
    ) -> None:
        self._settings = settings
        self._label = f"The source cluster {settings.alias} ({settings.servers})"
        self._partitions = {(p.topic, p.partition): p for p in starts}
        self._at = {(p.topic, p.partition): start for p, start in starts.items()}
        self.unseen = set(self._partitions)
        """Partitions of which it is not known yet whether they have records."""
        self._noted = Noted(maxlen=100)
        self._consumer = make_consumer(settings.consumer, self._noted, committed=settings.committed)
        self._passed: dict[PartitionId, int] = {}
        self._trouble: PenstockError | None = None
        self._refusals = 0
        self._first = first = OFFSET_END if settings.from_the_end else OFFSET_BEGINNING
        self._consumer.assign(
            [TopicPartition(t, p, first if at is None else at) for (t, p), at in self._at.items()]
        )

    def take(self, most: int) -> SourceBatch | None:
        """At most so many of the next records; an error comes after those that precede it."""
        self._raise_trouble()
        messages = self._consumer.consume(1, PATIENCE)
        if messages and most > 1:
            messages += self._consumer.consume(most - 1, 0)
        taken = self._sorted(messages)
        if taken.records:
            self._refusals = 0
            return SourceBatch(self._batch(taken.records), self._offsets(taken.last))
        if taken.last:
            return offsets_only(self._offsets(taken.last))
        if self._noted and not messages:
            self._note_client()
        self._raise_trouble()
        return None

    def passed(self) -> list[ChangedOffset]:
        """Ends that were reached, where there are no records before them."""
        ends = {p: end for p, end in self._passed.items() if end >= (self._at[p] or 0)}
        return self._offsets(ends)

    def close(self) -> None:
        """Close the client."""
        self._consumer.close()

    def _sorted(self, messages: Sequence[Message]) -> _Taken:
        taken = _Taken()
        for message in messages:
            place = message.topic() or "", message.partition() or 0
            if (error := message.error()) is not None:
                self._note(taken, place, error, message.offset())
            elif place in self._partitions:
                taken.records.append(message)
                taken.last[place] = message.offset() or 0
        for place in taken.last:
            self._at[place] = taken.last[place] + 1
        self.unseen.difference_update(taken.last)
        return taken

    def _note(
        self, taken: _Taken, place: PartitionId, error: KafkaError, offset: int | None
    ) -> None:
        if error.code() == KafkaError._PARTITION_EOF:
            self._reach_end(taken, place, offset or 0)
        elif error.code() == KafkaError._AUTO_OFFSET_RESET and self._at[place] is not None:
            self._trouble = UserError(self._lost(place))
        elif error.code() in GONE or _NO_TOPIC in error.str():
            self._drop(place)
        elif error.code() == KafkaError._AUTO_OFFSET_RESET:
            self._consumer.seek(TopicPartition(*place, self._first))
        else:
            self._trouble = problem(self._label, error, 0)

    def _reach_end(self, taken: _Taken, place: PartitionId, end: int) -> None:
        """Whether or not what lies before the end are records: markers of transactions are not."""
        self.unseen.discard(place)
        if place not in self._partitions:
            return
        if self._at[place] is None and self._settings.from_the_end:
            taken.last[place] = end - 1  # at once: the next task must not begin at the end again
        elif end > (self._at[place] or 0):
            self._passed[place] = end - 1

    def _drop(self, place: PartitionId) -> None:
        """A topic that was deleted. Its offsets stay, in case it was a mistake to delete it."""
        self.unseen.discard(place)
        self._passed.pop(place, None)
        if self._partitions.pop(place, None) is not None:
            log.warning("%s-%d is no longer in the source cluster: it is not read", *place)

    def _lost(self, place: PartitionId) -> str:
        topic, partition = place
        at = self._at[place] or 0
        try:
            low, high = self._consumer.get_watermark_offsets(TopicPartition(*place), timeout=5)
        except KafkaException:
            low = high = -1
        held = f"it has {low} to {high - 1}" if high > low >= 0 else "it is empty"
        state = "it does not say what it has" if high < 0 else held
        move = (
            "reset this source partition"
            if low <= 0
            else f'set its offset to {{"offset": {low - 1}}}'
        )
        return (
            f"Offset {at} of {topic}-{partition} is not in the source cluster "
            f"{self._settings.alias} any more: {state}. What is missing was deleted before it was "
            "mirrored, or the topic was truncated. To go on without it, stop the connector, "
            f"{move}, and resume."
        )

    def _note_client(self) -> None:
        """A single broker that is away is the client's affair."""
        noted = [error for error in self._noted if error.code() in WORTH_TELLING]
        refused = refused_logins(self._noted)
        self._refusals += len(refused)
        self._noted.clear()
        if noted:
            self._trouble = problem(self._label, [*noted, *refused][-1], self._refusals)

    def _raise_trouble(self) -> None:
        trouble, self._trouble = self._trouble, None
        if trouble is not None:
            raise trouble

    def _offsets(self, reached: Mapping[PartitionId, int]) -> list[ChangedOffset]:
        alias = self._settings.alias
        moved = ((self._partitions[place], last) for place, last in reached.items())
        return [(p.source_partition(alias), p.source_offset(last)) for p, last in moved]

    def _batch(self, records: Sequence[Message]) -> pa.RecordBatch:
        rows = len(records)
        return record_batch(
            self._topics(records),
            pa.array([r.value() for r in records], pa.binary()),
            key=pa.array([r.key() for r in records], pa.binary()),
            value_field=_VALUE,
            key_field=_KEY,
            partition=pa.array([r.partition() for r in records], pa.int32()),
            timestamp=pa.array(map(_time, records), pa.int64(), size=rows),
            headers=_headers(records),
        )

    def _topics(self, records: Sequence[Message]) -> str | pa.Array:
        topics = [record.topic() for record in records]
        remote = {topic: self._settings.names.remote(topic or "") for topic in set(topics)}
        if len(remote) == 1:
            return next(iter(remote.values()))
        return pa.array([remote[topic] for topic in topics]).dictionary_encode()


def _time(record: Message) -> int | None:
    kind, time = record.timestamp()
    return None if kind == TIMESTAMP_NOT_AVAILABLE else time


def _headers(records: Sequence[Message]) -> pa.Array | None:
    """Made column by column: dictionaries for single headers would take four times as long."""
    every: list[Any] = [record.headers() or () for record in records]
    flat = [header for headers in every for header in headers]
    if not flat:
        return None
    ends = np.cumsum([0, *map(len, every)], dtype=np.int32)
    keys = pa.array([key for key, _ in flat], pa.string())
    values = pa.array([value for _, value in flat], pa.binary())
    pairs = pa.StructArray.from_arrays([keys, values], fields=list(HEADERS.value_type))
    empty = None if all(every) else pa.array([not headers for headers in every])
    return pa.ListArray.from_arrays(ends, pairs, type=HEADERS, mask=empty)
