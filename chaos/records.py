"""The committed records of every topic, as an outside reader sees them."""

from __future__ import annotations

from collections.abc import Iterator

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from chaos.load import SOURCES, Source

POLL_SECONDS = 10.0


class Records:
    """What was read so far: committed records stay as they are, so a reading goes on from there."""

    def __init__(self, bootstrap_servers: str) -> None:
        self._settings: dict[str, str | int | float | bool] = {
            "bootstrap.servers": bootstrap_servers,
            "log_level": 0,
            "group.id": "chaos-checker",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "error",
            "isolation.level": "read_committed",
        }
        self.lines: dict[str, list[str]] = {key: [] for key in all_partitions()}
        self.offsets: dict[str, list[int]] = {key: [] for key in all_partitions()}

    def read(self) -> None:
        """Read on to the present end. KafkaException if the broker does not answer."""
        consumer = Consumer(self._settings)
        places = dict(all_partitions())
        try:
            consumer.assign(
                [TopicPartition(*place, self._next(key)) for key, place in places.items()]
            )
            for key, offset, line in _messages(consumer, set(places)):
                self.offsets[key].append(offset)
                self.lines[key].append(line)
        finally:
            consumer.close()

    def _next(self, key: str) -> int:
        return self.offsets[key][-1] + 1 if self.offsets[key] else 0


def partition_key(topic: str, partition: int) -> str:
    """How a partition is named here."""
    return f"{topic}-{partition}"


def keys_of(source: Source) -> list[str]:
    """The partitions of a source's topic."""
    return [partition_key(source.topic, number) for number in range(source.partitions)]


def all_partitions() -> dict[str, tuple[str, int]]:
    """Topic and number of every partition, by its name here."""
    return {
        partition_key(each.topic, number): (each.topic, number)
        for each in SOURCES
        for number in range(each.partitions)
    }


def _messages(consumer: Consumer, unread: set[str]) -> Iterator[tuple[str, int, str]]:
    while unread:
        message = consumer.poll(POLL_SECONDS)
        if message is None:
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT, "the broker is silent"))
        key = partition_key(str(message.topic()), message.partition() or 0)
        error = message.error()
        if error is None and key in unread:
            yield key, message.offset() or 0, (message.value() or b"").decode()
        elif error is not None and error.code() == KafkaError._PARTITION_EOF:
            unread.discard(key)
        elif error is not None and (error.fatal() or not error.retriable()):
            raise KafkaException(error)
