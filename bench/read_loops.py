"""Programs that read a topic to its end, in the ways that there are.

    python -m bench.read_loops <bootstrap servers>

Says that it is ready; then answers every line ``<loop> <topic> <records> <name>`` with the seconds
from the making of the consumer until it is closed, its position stored.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from itertools import islice

import pyarrow.compute as pc
from confluent_kafka import Consumer as Client

from penstock.consumers import Consumer

Loop = Callable[[str, str, int, str], int]
BATCH = 1000


def plain(brokers: str, topic: str, records: int, name: str) -> int:
    """The loop of confluent-kafka's own documentation, with its automatic commits."""
    client = _client(brokers, topic, name)
    size = 0
    for _ in range(records):
        message = client.poll(10.0)
        if message is None or message.error():
            raise RuntimeError("the topic ended too early")
        size += len(message.value() or b"")
    client.close()
    return size


def plain_batches(brokers: str, topic: str, records: int, name: str) -> int:
    """The same, many at a time."""
    client = _client(brokers, topic, name)
    size = seen = 0
    while seen < records:
        messages = client.consume(BATCH, timeout=1.0)
        seen += len(messages)
        size += sum(len(message.value() or b"") for message in messages)
    client.close()
    return size


def named(brokers: str, topic: str, records: int, name: str) -> int:
    """Ours, record by record."""
    size = 0
    with Consumer(topic, name, bootstrap_servers=brokers) as consumer:
        for record in islice(consumer, records):
            size += len(record.value or b"")
    return size


def named_batches(brokers: str, topic: str, records: int, name: str) -> int:
    """Ours, many at a time."""
    size = seen = 0
    with Consumer(topic, name, bootstrap_servers=brokers) as consumer:
        while seen < records:
            batch = consumer.take() or []
            seen += len(batch)
            size += sum(len(record.value or b"") for record in batch)
    return size


def named_arrow(brokers: str, topic: str, records: int, name: str) -> int:
    """Ours, in columns."""
    size = seen = 0
    with Consumer(topic, name, bootstrap_servers=brokers) as consumer:
        while seen < records:
            for batch in consumer.take_arrow() or []:
                seen += batch.num_rows
                size += pc.sum(pc.binary_length(batch.column("value"))).as_py()
    return size


LOOPS: dict[str, Loop] = {
    loop.__name__: loop for loop in (plain, plain_batches, named, named_batches, named_arrow)
}


def main(brokers: str) -> None:
    """Serve until the end of standard input."""
    answer("ready")
    for line in sys.stdin:
        loop, topic, records, name = line.split()
        began = time.perf_counter()
        size = LOOPS[loop](brokers, topic, int(records), name)
        answer(f"{time.perf_counter() - began:.4f} {size}")


def answer(line: str) -> None:
    """Say a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _client(brokers: str, topic: str, name: str) -> Client:
    client = Client(
        {"bootstrap.servers": brokers, "group.id": name, "auto.offset.reset": "earliest"}
    )
    client.subscribe([topic])
    return client


if __name__ == "__main__":
    main(*sys.argv[1:])
