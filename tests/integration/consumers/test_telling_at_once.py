"""Whoever takes records one by one hears of trouble with the next, not behind the batch."""

from __future__ import annotations

import asyncio

import pytest

from penstock.consumers import Consumer, Fenced, FlushFailed
from penstock.consumers.holding.keeper import Keeper
from penstock.kafka.errors import BrokerUnavailable
from waiting import eventually


def take_over(consumer, reader: Consumer) -> None:
    consumer(take_over=True).open()
    session = reader._session
    assert session is not None
    assert not session.progress.batch.used_up, "there are records left"
    eventually(lambda: session._keeper.fenced, what="that it was taken over")


def test_a_loop_ends_with_the_record_that_is_being_handled(consumer) -> None:
    seen = []

    def read() -> None:
        reader = consumer(flush=600)
        for record in reader:
            seen.append(record.text)
            if len(seen) == 3:
                take_over(consumer, reader)

    with pytest.raises(Fenced):
        read()
    assert seen == ["0", "1", "2"]


def test_so_does_next(consumer) -> None:
    reader = consumer(flush=600)
    assert next(reader).text == "0"
    take_over(consumer, reader)
    for _ in range(2):
        with pytest.raises(Fenced):
            next(reader)


def test_so_does_an_async_loop(consumer) -> None:
    seen = []

    async def read() -> None:
        reader = consumer(flush=600)
        async for record in reader:
            seen.append(record.text)
            await asyncio.to_thread(take_over, consumer, reader)

    with pytest.raises(Fenced):
        asyncio.run(read())
    assert seen == ["0"]


def test_a_flush_that_failed_is_told_at_once_and_no_record_is_lost(
    consumer, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = consumer(flush=0.05)
    assert next(reader).text == "0"

    def fail(*_: object, **__: object) -> None:
        raise BrokerUnavailable("nobody answers")

    with monkeypatch.context() as patched:
        patched.setattr(Keeper, "store", fail)
        eventually(lambda: reader._session._storing.trouble, what="a flush that failed")
        with pytest.raises(FlushFailed, match="nobody answers"):
            next(reader)
    eventually(lambda: reader._session._storing.trouble is None, what="a flush that did not")
    assert [next(reader).text for _ in range(9)] == [str(number) for number in range(1, 10)]
