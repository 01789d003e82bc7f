"""A batch that is halted hands out nothing more, and keeps the rest."""

from __future__ import annotations

from confluent_kafka import Message

from penstock.consumers.reading.progress import Batch, Progress


def of_partitions(*partitions: int) -> Batch:
    """A record for each, at offsets from 0 on."""
    return Batch([Message(topic="t", partition=p, offset=at) for at, p in enumerate(partitions)])


def test_a_halted_batch_ends_and_the_rest_comes_after() -> None:
    batch = of_partitions(0, 0, 0, 0)
    records = batch.records()
    assert [next(records).offset, next(records).offset] == [0, 1]
    batch.halted = True
    assert list(records) == []
    assert not batch.used_up
    batch.halted = False
    assert [record.offset for record in batch.records()] == [2, 3]


def test_what_was_handed_out() -> None:
    progress = Progress({0: 0, 1: 0, 2: 7}, automatic=False)
    batch = of_partitions(0, 1, 0, 1)
    progress.next_batch(batch)
    assert not progress.was_handed_out(0, 0)
    batch.take(3)
    assert progress.was_handed_out(0, 2)
    assert progress.was_handed_out(1, 1)
    assert not progress.was_handed_out(1, 3)
    assert progress.was_handed_out(2, 6), "before it began"
    assert not progress.was_handed_out(2, 7)
    assert not progress.was_handed_out(3, 0), "a partition of others"
    batch.take()
    progress.next_batch(Batch())
    assert progress.was_handed_out(1, 3)
