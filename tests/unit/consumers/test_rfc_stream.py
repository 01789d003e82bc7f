"""The RFC's stream over a consumer that does as it is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any, cast
from unittest.mock import MagicMock, Mock

import pytest

from penstock.consumers import Consumer, Record
from penstock.consumers.rfc import ConsumerStream


class Told:
    """A consumer with these values."""

    def __init__(self, *values: bytes | None) -> None:
        self.records = [Record(Mock(value=Mock(return_value=value))) for value in values]
        self.flushed = 0
        self.commit = MagicMock()

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)

    async def __aiter__(self) -> AsyncIterator[Record]:
        for record in self.records:
            yield record

    def flush(self) -> None:
        self.flushed += 1

    async def flush_async(self) -> None:
        await asyncio.sleep(0)
        self.flush()


def stream_of(*values: bytes | None) -> tuple[ConsumerStream, Told]:
    told = Told(*values)
    return ConsumerStream(cast(Consumer, told)), told


@pytest.mark.parametrize(
    ("value", "text"), [(b"one", "one"), (b"\xff!", "\N{REPLACEMENT CHARACTER}!"), (None, "")]
)
def test_values_as_lossy_text(value: bytes | None, text: str) -> None:
    stream, _ = stream_of(value)
    assert [record.get_value().as_utf8_lossy_string() for record in stream] == [text]


def test_next_is_awaited_until_there_is_none() -> None:
    stream, _ = stream_of(b"one", b"two")

    async def read() -> list[Any]:
        found = [await stream.next() for _ in range(3)]
        return [record and bytes(record.get_value()) for record in found]

    assert asyncio.run(read()) == [b"one", b"two", None]


def test_a_flush_can_be_awaited_and_is_done_at_once_without_a_loop() -> None:
    stream, told = stream_of()
    stream.offset_flush()
    assert told.flushed == 1

    async def flush() -> int:
        pending = stream.offset_flush()
        before = told.flushed
        await pending
        return before

    assert (asyncio.run(flush()), told.flushed) == (1, 2)


def test_a_flush_that_is_done_can_be_awaited_all_the_same() -> None:
    stream, told = stream_of()
    done = stream.offset_flush()

    async def wait() -> None:
        await done

    asyncio.run(wait())
    assert told.flushed == 1


def test_commit_is_the_consumers() -> None:
    stream, told = stream_of(b"one")
    (record,) = stream
    stream.offset_commit(record)
    told.commit.assert_called_once_with(record)
