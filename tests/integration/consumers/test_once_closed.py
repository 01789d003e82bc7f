"""A consumer that is closed stays so until it is opened again."""

from __future__ import annotations

import asyncio

import pytest

from penstock.consumers import ConsumerError


def test_it_opens_nothing_by_itself(consumer) -> None:
    with consumer() as reader:
        assert next(reader).text == "0"
    for call in (
        reader.commit,
        reader.flush,
        reader.take,
        reader.take_arrow,
        lambda: iter(reader),
        lambda: next(reader.batches()),
        lambda: asyncio.run(reader.flush_async()),
        lambda: asyncio.run(anext(aiter(reader))),
    ):
        with pytest.raises(ConsumerError, match="is closed: open it again"):
            call()
    assert next(reader, None) is None
    assert reader._session is None
    with reader:
        assert next(reader).text == "1"
    reader.open()
    assert next(reader).text == "2"


def test_a_loop_that_is_under_way_ends(consumer) -> None:
    reader = consumer()
    records, batches = iter(reader), reader.batches()
    assert next(records).text == "0"
    reader.close()
    assert list(records) == []
    with reader.open():
        assert next(batches)[0].text == "1"
        reader.close()
        assert list(batches) == []


def test_an_async_loop_that_is_under_way_ends(consumer) -> None:
    async def read() -> list[str]:
        reader = consumer()
        seen = []
        async for record in reader:
            seen.append(record.text)
            await asyncio.to_thread(reader.close)
        return seen

    assert asyncio.run(read()) == ["0"]
