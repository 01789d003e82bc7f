"""Fetches the records of some partitions, from given offsets on."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from penstock.consumers.errors import NoSuchTopic
from penstock.consumers.progress import Batch, Places
from penstock.kafka import clients
from penstock.kafka.clients import Connection
from penstock.kafka.errors import DENIED, BrokerUnavailable, describe, reading_denied

log = logging.getLogger(__name__)

BATCH = 2000
SETTINGS: dict[str, Any] = {
    "auto.offset.reset": "error",
    "enable.partition.eof": True,
    # Else a full queue keeps the client from fetching for a second.
    "fetch.queue.backoff.ms": 10,
    "queued.min.messages": 100_000,
}
_OUT_OF_LOG = frozenset({KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE})
_NO_TOPIC = frozenset(
    {
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError._UNKNOWN_TOPIC,
        KafkaError._UNKNOWN_PARTITION,
    }
)


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
        self._group = connection.reading_as
        self._when_gone = when_gone
        self._stops = dict(stops or {})
        self._left = {p for p, stop in self._stops.items() if starts[p] < stop}
        chosen = {**SETTINGS, **settings}
        self._consumer = clients.reader(connection, committed=committed, **chosen)
        self._consumer.assign([TopicPartition(topic, p, offset) for p, offset in starts.items()])

    @property
    def finished(self) -> bool:
        """Whether every partition has been read to its stop."""
        return bool(self._stops) and not self._left

    def take(self, patience: float) -> Batch:
        """What is there; waits up to ``patience`` seconds for a first record."""
        batch = fetched(self._consumer, self._topic, self._group, patience, self._when_gone)
        return self._stopped(batch) if self._stops else batch

    def close(self) -> None:
        """Leave nothing behind."""
        self._consumer.close()

    def _stopped(self, batch: Batch) -> Batch:
        """Without what lies behind the stops."""
        places = batch.places(len(batch.messages))
        self._left -= {p for p, place in places.items() if place >= self._stops[p]}
        if all(place <= self._stops[p] for p, place in places.items()):
            return batch
        stops = self._stops
        messages = [m for m in batch.messages if (m.offset() or 0) < stops[m.partition() or 0]]
        return Batch(messages, {p: min(end, stops[p]) for p, end in batch.ends.items()})


def fetched(
    consumer: Consumer,
    topic: str,
    group: str,
    patience: float,
    when_gone: Callable[[int], int],
) -> Batch:
    """What a consumer has for us; waits up to ``patience`` seconds for a first record."""
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
    for message in messages:
        error, partition = message.error(), message.partition() or 0
        if error is None:
            records.append(message)
        elif error.code() == KafkaError._PARTITION_EOF:
            ends[partition] = message.offset() or 0
        elif error.code() in _OUT_OF_LOG:
            consumer.seek(TopicPartition(topic, partition, when_gone(partition)))
        else:
            _handle(error, topic, group)
    return Batch(records, ends)


def _handle(error: KafkaError, topic: str, group: str) -> None:
    if error.code() in _NO_TOPIC:
        raise NoSuchTopic(f'topic "{topic}" was deleted while it was read')
    if error.code() in DENIED:
        raise reading_denied(topic, group, error)
    if error.fatal():
        raise BrokerUnavailable(describe(error)) from KafkaException(error)
    log.info("reading %s: %s; trying again", topic, describe(error))
