"""The demo's view of its topic: an ordinary consumer that sees committed records only."""

from __future__ import annotations

import hashlib
import time

from confluent_kafka import OFFSET_BEGINNING, KafkaError, KafkaException, TopicPartition

from penstock.cli.demo_files import Contents
from penstock.kafka import clients, topics
from penstock.kafka.clients import Connection


class TopicReader:
    """Reads a topic of one partition from its beginning, which it creates. Close it at the end."""

    def __init__(self, bootstrap_servers: str, topic: str) -> None:
        connection = Connection(bootstrap_servers)
        topics.ensure_topic(clients.admin(connection), topic, partitions=1)
        self._consumer = clients.reader(connection, committed=True)
        self._consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
        self._digest = hashlib.sha256()
        self._size = 0
        self.records = 0

    def read(self, seconds: float = 0.2) -> int:
        """Take what comes within ``seconds``; how many records came in all."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            for message in self._consumer.consume(10_000, left):
                error = message.error()
                if error is None:
                    self._take(message.value() or b"")
                elif error.code() != KafkaError._PARTITION_EOF:
                    raise KafkaException(error)
        return self.records

    def contents(self) -> Contents:
        """What all records so far would be as lines of a file."""
        return Contents(self.records, self._size, self._digest.hexdigest())

    def close(self) -> None:
        """Leave the topic."""
        self._consumer.close()

    def _take(self, value: bytes) -> None:
        self._digest.update(value + b"\n")
        self._size += len(value) + 1
        self.records += 1
