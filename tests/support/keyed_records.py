"""Records with keys, written as any program would."""

from __future__ import annotations

from collections.abc import Iterable

from topics import Topics
from waiting import eventually

Keyed = tuple[str, str | None]
"""A key and a value."""


def produce_keyed(topics: Topics, topic: str, records: Iterable[Keyed]) -> None:
    """In one transaction, to partition 0; readers see them when this returns."""
    before = topics.end(topic)
    producer = topics.transaction(f"keyed-{topic}")
    count = 0
    for key, value in records:
        text = None if value is None else value.encode()
        producer.produce(topic, text, key.encode(), partition=0)
        count += 1
    producer.commit_transaction(60)
    eventually(lambda: topics.end(topic) >= before + count + 1, what="the transaction's marker")
