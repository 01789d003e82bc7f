"""A file that grows, a connector that follows it, and a consumer that waits: for latencies."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from confluent_kafka import Consumer, KafkaError

from bench.bed import Bed
from bench.moves import SOURCE
from bench.rest_worker import RestWorker
from penstock.client.waiting import raise_if_failed

LINES = 100
LINE = b"a line of the latency row, about as long as the lines of a log usually are\n"
LONGEST_SECONDS = 90.0


class Tail:
    """One followed file. Use it in a with statement; then the connector and the topic go."""

    def __init__(self, bed: Bed, worker: RestWorker) -> None:
        self._worker, self._topic = worker, bed.topic()
        self._name = bed.name("tail")
        self._file: Path = bed.folder / f"{self._name}.txt"
        self._file.write_bytes(b"")
        self._consumer = self._topic.reader(at_end=True)
        worker.create(self._name, {**SOURCE, "file": str(self._file), "topic": self._topic.name})

    def __enter__(self) -> Tail:
        return self

    def __exit__(self, *_: object) -> None:
        self._consumer.close()
        self._worker.delete(self._name)
        self._topic.delete()

    def latency_milliseconds(self) -> float:
        """Append lines in one write; the time until the last one is received, committed."""
        with self._file.open("ab", buffering=0) as file:
            began = time.perf_counter()
            file.write(LINE * LINES)
        receive(self._consumer, began, lambda: raise_if_failed(self._worker.client, self._name))
        return (time.perf_counter() - began) * 1000


def receive(consumer: Consumer, began: float, check: Callable[[], None]) -> None:
    """Return once all lines are there; TimeoutError when they are long overdue, or what ``check``
    raises then."""
    received = 0
    while received < LINES:
        messages = consumer.consume(LINES - received, timeout=0.01)
        errors = [error for message in messages if (error := message.error())]
        if any(error.code() != KafkaError._PARTITION_EOF for error in errors):
            raise RuntimeError(f"reading: {errors[0].str()}")
        received += len(messages) - len(errors)
        if time.perf_counter() - began > LONGEST_SECONDS:
            check()
            raise TimeoutError(f"{LINES} lines did not arrive in {LONGEST_SECONDS:g} s")
