"""The least that a program in Python can do: read lines, produce them, commit now and then.

    python -m bench.bare_loop <bootstrap servers> <topic> <file>

Says that it is ready, and begins, its producer not yet made, when it is told to. The producer has
the settings of our own; what is left out is everything else: offsets, converters, Spark.
"""

from __future__ import annotations

import sys
import time
from itertools import islice
from pathlib import Path

from confluent_kafka import Producer

from penstock.kafka.clients import Connection, transactional_producer

COMMIT_RECORDS = 100_000
COMMIT_SECONDS = 1.0
CHUNK = 10_000


def main(bootstrap_servers: str, topic: str, path: str) -> None:
    """Wait to be told, then produce the file."""
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    if sys.stdin.readline():
        copy(bootstrap_servers, topic, Path(path))


def copy(bootstrap_servers: str, topic: str, path: Path) -> None:
    """Produce every line of the file, in transactions."""
    to_kafka = transactional_producer(Connection(bootstrap_servers), f"bare-{topic}")
    to_kafka.init_transactions()
    to_kafka.begin_transaction()
    began, count = time.monotonic(), 0
    with path.open("rb") as file:
        while sent := send_chunk(to_kafka, topic, list(islice(file, CHUNK))):
            count += sent
            if count >= COMMIT_RECORDS or time.monotonic() - began > COMMIT_SECONDS:
                to_kafka.commit_transaction()
                to_kafka.begin_transaction()
                began, count = time.monotonic(), 0
    to_kafka.commit_transaction()


def send_chunk(to_kafka: Producer, topic: str, lines: list[bytes]) -> int:
    """Produce some lines; how many."""
    produce = to_kafka.produce
    for line in lines:
        try:
            produce(topic, line[:-1])
        except BufferError:
            to_kafka.flush()
            produce(topic, line[:-1])
    to_kafka.poll(0)
    return len(lines)


if __name__ == "__main__":
    main(*sys.argv[1:])
