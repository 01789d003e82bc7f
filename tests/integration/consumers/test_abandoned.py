"""Waits that were cancelled leave threads behind, which must not say that a record is done."""

from __future__ import annotations

import asyncio
import threading

import pytest

from penstock.consumers.session import Session


def test_a_record_that_is_being_handled_is_not_done_by_those_that_gave_up(
    consumer, stands, monkeypatch: pytest.MonkeyPatch
) -> None:
    late, ended = threading.Event(), threading.Semaphore(0)
    next_batch, calls = Session.next_batch, iter(range(100))

    def some_are_late(self, *given):
        if next(calls) >= 2:
            return next_batch(self, *given)
        assert late.wait(30)
        try:
            return next_batch(self, *given)
        finally:
            ended.release()

    monkeypatch.setattr(Session, "next_batch", some_are_late)

    async def read() -> None:
        reader = await consumer(flush=600).__aenter__()
        for _ in range(2):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(anext(aiter(reader)), 0.1)
        records = aiter(reader)
        assert (await anext(records)).text == "0"
        late.set()
        for _ in range(2):
            assert await asyncio.to_thread(ended.acquire, timeout=30)
        await reader.flush_async()
        assert list(stands().values()) == [0], "it is being handled"
        assert (await anext(records)).text == "1"
        await reader.flush_async()
        assert list(stands().values()) == [1]

    asyncio.run(read())
