"""Fetches the records of some partitions, from given offsets on."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from enum import Enum, auto
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from penstock.consumers.errors import NoSuchTopic
from penstock.consumers.progress import Batch, Places
from penstock.kafka import clients
from penstock.kafka.clients import Connection
from penstock.kafka.errors import DENIED, AccessDenied, BrokerUnavailable, describe

log = logging.getLogger(__name__)

BATCH = 2000
READER_SETTINGS: dict[str, Any] = {
    "auto.offset.reset": "error",
    "enable.partition.eof": True,
    # The first records are there soon; a record that is larger comes alone.
    "fetch.message.max.bytes": 8 * 1024 * 1024,
    "queued.max.messages.kbytes": 32 * 1024,
    # Else a full queue keeps the client from fetching for a second.
    "fetch.queue.backoff.ms": 5,
}
_OUT_OF_LOG = frozenset({KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE})
_NO_TOPIC = frozenset(
    {
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError._UNKNOWN_TOPIC,
        KafkaError._UNKNOWN_PARTITION,
    }
)


class Trouble(Enum):
    """What it means that a client gives something that is no record."""

    END = auto()
    """There is no more in a partition at this moment."""
    GONE = auto()
    """The next record of a partition was deleted."""
    PASSING = auto()
    """The client tries again by itself."""


class Stops:
    """Where to end in each partition, if anywhere."""

    def __init__(self, starts: Mapping[int, int], stops: Mapping[int, int] | None) -> None:
        self._stops = dict(stops or {})
        self._left = {p for p, stop in self._stops.items() if starts[p] < stop}

    @property
    def reached(self) -> bool:
        """Whether every partition has been read to its stop."""
        return bool(self._stops) and not self._left

    def of(self, partition: int) -> int:
        """The first offset of a partition that is not to be handed out."""
        return self._stops[partition]

    def passed_by(self, places: Places) -> bool:
        """Take note that reading has come to ``places``; whether that is too far anywhere."""
        if not self._stops:
            return False
        self._left -= {p for p, place in places.items() if place >= self._stops[p]}
        return any(place > self._stops[p] for p, place in places.items())

    def cut(self, places: Mapping[int, int]) -> Places:
        """These places, none of them behind its stop."""
        return {p: min(place, self._stops[p]) for p, place in places.items()}


class Reading:
    """Reads on and on. Belongs to one thread at a time."""

    def __init__(
        self,
        connection: Connection,
        topic: str,
        starts: Mapping[int, int],
        *,
        when_gone: Callable[[int], int],
        settings: Mapping[str, Any],
        stops: Mapping[int, int] | None = None,
        committed: bool = True,
    ) -> None:
        """``when_gone`` says where to go on in a partition whose next record was deleted.

        With ``stops``, what lies at or behind them is not handed out.
        """
        self._topic = topic
        self._starts = starts
        self._when_gone = when_gone
        self._stops = Stops(starts, stops)
        chosen = {**READER_SETTINGS, **settings}
        self._consumer = clients.reader(connection, committed=committed, **chosen)
        self._consumer.assign([TopicPartition(topic, p, offset) for p, offset in starts.items()])

    @property
    def finished(self) -> bool:
        """Whether every partition has been read to its stop."""
        return self._stops.reached

    def take(self, patience: float) -> Batch:
        """What is there; waits up to ``patience`` seconds for a first record."""
        batch = fetched(self._consumer, self._topic, self._starts, patience, self._when_gone)
        return self._stopped(batch)

    def close(self) -> None:
        """Leave nothing behind."""
        self._consumer.close()

    def _stopped(self, batch: Batch) -> Batch:
        """Without what lies behind the stops."""
        if not self._stops.passed_by(batch.places(batch.size)):
            return batch
        stop = self._stops.of
        messages = [m for m in batch.messages if (m.offset() or 0) < stop(m.partition() or 0)]
        return Batch(messages, self._stops.cut(batch.ends))


def fetched(
    consumer: Consumer,
    topic: str,
    starts: Mapping[int, int],
    patience: float,
    when_gone: Callable[[int], int],
) -> Batch:
    """What a consumer has for us; waits up to ``patience`` seconds for a first record.

    It reads on where ``when_gone`` says if a record was deleted; ``starts`` is where it began.
    """
    # Asked for many, the client waits for many: so one first, then those that are there.
    first = consumer.poll(patience)
    if first is None:
        return Batch()
    # A message without a value has no length, so it counts as false.
    messages = [first, *consumer.consume(BATCH, timeout=0)]
    if not any(map(Message.error, messages)):
        return Batch(messages)
    records: list[Message] = []
    ends: Places = {}
    moved: Places = {}
    for message in messages:
        error, partition = message.error(), message.partition() or 0
        if error is None:
            records.append(message)
            continue
        match trouble_of(error, topic):
            case Trouble.END:
                ends[partition] = message.offset() or 0
            case Trouble.GONE:
                moved[partition] = when_gone(partition)
    if moved:
        _move(consumer, topic, starts, moved)
    return Batch(records, ends)


def _move(consumer: Consumer, topic: str, starts: Mapping[int, int], moved: Places) -> None:
    """Go on elsewhere in some partitions. The client refuses to seek in those that it gave up."""
    positions = {each.partition: each.offset for each in consumer.position(consumer.assignment())}
    places = {p: starts[p] if place < 0 else place for p, place in positions.items()} | moved
    consumer.assign([TopicPartition(topic, p, place) for p, place in places.items()])


def trouble_of(error: KafkaError, topic: str) -> Trouble:
    """What to make of it; NoSuchTopic, AccessDenied or BrokerUnavailable if it is the end."""
    code = error.code()
    if code == KafkaError._PARTITION_EOF:
        return Trouble.END
    if code in _OUT_OF_LOG:
        return Trouble.GONE
    if code in _NO_TOPIC:
        raise NoSuchTopic(f'topic "{topic}" was deleted while it was read')
    if code in DENIED:
        raise AccessDenied(f"read topic {topic}", error)
    if error.fatal():
        raise BrokerUnavailable(describe(error)) from KafkaException(error)
    log.info("reading %s: %s; trying again", topic, describe(error))
    return Trouble.PASSING
