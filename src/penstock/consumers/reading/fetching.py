"""What a client has fetched: records, ends of partitions, and trouble."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from penstock.consumers.errors import NoSuchTopic
from penstock.consumers.options import Options
from penstock.consumers.reading.progress import Batch, Offsets
from penstock.kafka.errors import DENIED, BrokerUnavailable, describe, reading_denied

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


def fetching(options: Options) -> dict[str, Any]:
    """Settings of the client that the reader chooses."""
    return {} if options.max_bytes is None else {"fetch.message.max.bytes": options.max_bytes}


class Trouble(Enum):
    """What it means when a client returns something other than a record."""

    END = auto()
    """There is no more in a partition at this moment."""
    GONE = auto()
    """The next record of a partition was deleted."""
    PASSING = auto()
    """The client tries again by itself."""


@dataclass
class Fetcher:
    """Takes records of one topic from a client. Belongs to one thread at a time."""

    consumer: Consumer
    topic: str
    group: str
    when_gone: Callable[[int], int]
    """Where to go on in a partition whose next record was deleted."""
    starts: Offsets = field(default_factory=dict)
    """Where the client began in what it reads now."""
    _kept: Batch | None = None
    """What came together with trouble, and was not handed out because of that."""
    _gone: set[int] = field(default_factory=set)

    def take(self, patience: float) -> Batch:
        """What is there; waits up to ``patience`` seconds for a first record."""
        self._leave_gone()
        kept, self._kept = self._kept, None
        if kept is not None:
            return kept
        # Asked for many, the client waits for many: so one first, then those that are there.
        first = self.consumer.poll(patience)
        if first is None:
            return Batch()
        # A message without a value has no length, so it counts as false.
        messages = [first, *self.consumer.consume(BATCH, timeout=0)]
        return self._sorted(messages) if any(map(Message.error, messages)) else Batch(messages)

    def _sorted(self, messages: list[Message]) -> Batch:
        """Records by themselves, and whatever else there is taken care of."""
        records = [message for message in messages if message.error() is None]
        ends: Offsets = {}
        self._kept = Batch(records, ends)
        for message in messages:
            error, partition = message.error(), message.partition() or 0
            match error and trouble_of(error, self.topic, self.group):
                case Trouble.END:
                    ends[partition] = message.offset() or 0
                case Trouble.GONE:
                    self._gone.add(partition)
        self._leave_gone()
        batch, self._kept = self._kept, None
        return batch

    def _leave_gone(self) -> None:
        """Go on elsewhere where the next record was deleted; the policy may be to fail."""
        if self._gone:
            self.go_on_at({partition: self.when_gone(partition) for partition in self._gone})
            self._gone.clear()

    def begin(self, starts: Offsets) -> None:
        """Read these partitions from now on, and no others."""
        self.starts = starts
        self.consumer.assign([TopicPartition(self.topic, p, at) for p, at in starts.items()])

    def go_on_at(self, offsets: Offsets) -> None:
        """In these partitions, which may be new; in the others where they are.

        The client refuses to seek in a partition that it has given up.
        """
        positions = self.consumer.position(self.consumer.assignment())
        reached = {each.partition: each.offset for each in positions if each.offset >= 0}
        self.begin(self.starts | reached | offsets)


def trouble_of(error: KafkaError, topic: str, group: str) -> Trouble:
    """What to make of it; NoSuchTopic, AccessDenied or BrokerUnavailable if it is the end."""
    code = error.code()
    if code == KafkaError._PARTITION_EOF:
        return Trouble.END
    if code in _OUT_OF_LOG:
        return Trouble.GONE
    if code in _NO_TOPIC:
        raise NoSuchTopic(f'topic "{topic}" was deleted while it was read').advising(
            "Create it again, and start again: `penstock topic create NAME`."
        )
    if code in DENIED:
        raise reading_denied(topic, group, error)
    if error.fatal():
        raise BrokerUnavailable(describe(error)) from KafkaException(error)
    log.info("reading %s: %s; trying again", topic, describe(error))
    return Trouble.PASSING
