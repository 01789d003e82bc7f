"""Topics with page views and users in JSON, and what queries make of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from bench.bed import Bed
from bench.deliveries import Expected
from bench.topic import Topic
from penstock.kafka import clients

PARTITIONS = 2
FLUSH_EVERY = 20_000
Row = tuple[str, dict[str, Any]]
"""A key and a value."""


def views(count: int, users: int) -> Iterator[Row]:
    """Every tenth has ``n`` 0."""
    for number in range(count):
        value = {"pageid": f"Page_{number % 97}", "viewtime": 1_700_000_000_000 + number}
        yield f"User_{number % users}", {**value, "n": number % 10}


def users(count: int) -> Iterator[Row]:
    """One row of each."""
    for number in range(count):
        yield f"User_{number}", {"name": f"Name {number}", "city": f"City {number % 1000}"}


def projected(rows: Iterable[Row]) -> Expected:
    """What comes out of a projection and a filter."""
    made = (
        {"PAGE": value["pageid"].upper(), "T": value["viewtime"] + value["n"]}
        for _, value in rows
        if value["n"]
    )
    return expected(made)


def joined(rows: Iterable[Row]) -> Expected:
    """What comes out of a join with the users."""
    return expected(
        {
            "PAGEID": value["pageid"],
            "NAME": f"Name {key.removeprefix('User_')}",
            "CITY": f"City {int(key.removeprefix('User_')) % 1000}",
        }
        for key, value in rows
    )


def expected(values: Iterable[dict[str, Any]]) -> Expected:
    """These, in JSON without spaces."""
    count = size = 0
    for value in values:
        count += 1
        size += len(json.dumps(value, separators=(",", ":")))
    return Expected(count, size)


def filled(bed: Bed, rows: Iterable[Row]) -> Topic:
    """A topic of these rows, spread by their keys."""
    topic = bed.topic(PARTITIONS)
    producer = clients.producer(bed.connection)
    for number, (key, value) in enumerate(rows):
        producer.produce(topic.name, json.dumps(value), key)
        if number % FLUSH_EVERY == 0:
            producer.flush()
    producer.flush()
    return topic
