"""A topic of the bench: made, watched, read back and removed."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from confluent_kafka import Consumer, KafkaError, Message, TopicPartition
from confluent_kafka.admin import NewTopic

from penstock.kafka import clients
from penstock.kafka.clients import Connection
from penstock.kafka.topics import ADMIN_TIMEOUT, PartitionId, ends

READ_SECONDS = 60.0
# A batch that is not full is waited for as long as this, so not long.
BATCH, BATCH_SECONDS = 10_000, 0.1


@dataclass
class Contents:
    """What committed records a topic holds."""

    records: int = 0
    payload_bytes: int = 0
    after_last: dict[PartitionId, int] = field(default_factory=dict)
    """Per partition with records, the offset after its last record."""

    def add(self, messages: list[Message]) -> None:
        """Count some more."""
        self.records += len(messages)
        self.payload_bytes += sum(len(message.value() or b"") for message in messages)
        for last in {message.partition(): message for message in messages}.values():
            position = (str(last.topic()), last.partition() or 0)
            self.after_last[position] = (last.offset() or 0) + 1


class Topic:
    """A topic that exists from its making to `delete`."""

    def __init__(self, connection: Connection, name: str, partitions: int = 1) -> None:
        self.name, self._connection = name, connection
        self.partitions: list[PartitionId] = [(name, number) for number in range(partitions)]
        self._admin = clients.admin(connection)
        new = NewTopic(name, partitions, 1)
        self._admin.create_topics([new])[name].result(ADMIN_TIMEOUT)

    def ends(self, *, committed: bool) -> dict[PartitionId, int]:
        """Where each partition ends now."""
        return ends(self._admin, self.partitions, committed=committed)

    def reader(self, *, at_end: bool = False) -> Consumer:
        """A read_committed consumer that stands at the beginning, or at the end."""
        consumer = clients.reader(self._connection)
        starts = self.ends(committed=True) if at_end else dict.fromkeys(self.partitions, 0)
        consumer.assign([TopicPartition(topic, part, at) for (topic, part), at in starts.items()])
        return consumer

    def read_back(self) -> Contents:
        """Count what is committed, all of it."""
        consumer = self.reader()
        contents, unread = Contents(), len(self.partitions)
        heard = time.monotonic()
        try:
            while unread:
                messages = consumer.consume(BATCH, timeout=BATCH_SECONDS)
                heard = time.monotonic() if messages else heard
                if time.monotonic() - heard > READ_SECONDS:
                    raise TimeoutError(f"topic {self.name} could not be read to its end")
                unread -= _take(messages, contents)
        finally:
            consumer.close()
        return contents

    def delete(self) -> None:
        """Remove it."""
        self._admin.delete_topics([self.name])[self.name].result(ADMIN_TIMEOUT)


def _take(messages: list[Message], contents: Contents) -> int:
    """Count the records; how many partitions have ended. Millions are read, so not one by one."""
    contents.add([message for message in messages if message.error() is None])
    errors = [error for message in messages if (error := message.error()) is not None]
    for error in errors:
        if error.code() != KafkaError._PARTITION_EOF:
            raise RuntimeError(f"reading back: {error.str()}")
    return len(errors)
