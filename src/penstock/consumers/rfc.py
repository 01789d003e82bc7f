"""Named consumers in the words of the RFC that asked for them, in Python's spelling.

    config = ConsumerConfigExtBuilder().topic("orders").offset_consumer("billing").build()
    stream = connect("localhost:9092").consumer_with_config(config)
    async for record in stream:
        print(record.get_value().as_utf8_lossy_string())

If you do not know the RFC, use `penstock.consumers`: the same without a builder.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Generator, Iterator, Mapping
from datetime import timedelta
from types import TracebackType
from typing import Any, ClassVar, Self

from penstock.consumers import offset, options
from penstock.consumers.consumer import Consumer, brokers
from penstock.consumers.errors import InvalidConsumer
from penstock.consumers.options import Strategy
from penstock.consumers.reading import record as records

__all__ = [
    "Client",
    "ConsumerConfigExt",
    "ConsumerConfigExtBuilder",
    "ConsumerStream",
    "Offset",
    "OffsetManagement",
    "Record",
    "Value",
    "connect",
]


class Offset(offset.Offset):
    """Where to begin."""

    Beginning: ClassVar[offset.Offset] = offset.Offset.beginning()
    End: ClassVar[offset.Offset] = offset.Offset.end()


class OffsetManagement:
    """Who says that a record is done."""

    Auto: ClassVar[Strategy] = Strategy.AUTO
    Manual: ClassVar[Strategy] = Strategy.MANUAL
    Off: ClassVar[Strategy] = Strategy.NONE


class Value(bytes):
    """A record's value."""

    def as_utf8_lossy_string(self) -> str:
        """As text; bytes that are not UTF-8 become U+FFFD."""
        return self.decode(errors="replace")


class Record(records.Record):
    """A record whose value is asked for."""

    __slots__ = ()

    def get_value(self) -> Value:
        """The value; empty if there is none."""
        return Value(self.value or b"")


class ConsumerConfigExt:
    """What ``ConsumerConfigExtBuilder.build`` makes."""

    def __init__(self, topic: str, options: Mapping[str, Any]) -> None:
        self._topic = topic
        self._options = dict(options)

    def consumer(self, **connection: Any) -> Consumer:
        """A consumer with these options."""
        return Consumer(self._topic, **self._options, **connection)


class ConsumerConfigExtBuilder:
    """Collects the options of a consumer; each setter can be chained."""

    def __init__(self, topic: str | None = None) -> None:
        self._topic = topic
        self._partitions: list[int] = []
        self._options: dict[str, Any] = {}

    def topic(self, topic: str) -> Self:
        """The topic to read."""
        self._topic = topic
        return self

    def partition(self, partition: int) -> Self:
        """A partition to read; may be called for several. Without any, all are read."""
        self._partitions.append(partition)
        return self

    def max_bytes(self, count: int) -> Self:
        """How much to fetch of a partition at once, at most."""
        return self._set("max_bytes", count)

    def offset_consumer(self, name: str) -> Self:
        """The name to store the position under."""
        return self._set("name", name)

    def offset_start(self, offset: offset.Offset) -> Self:
        """Where to begin if nothing is stored under the name."""
        return self._set("start", offset)

    def offset_strategy(self, strategy: Strategy = OffsetManagement.Auto) -> Self:
        """Who says that a record is done."""
        return self._set("strategy", strategy)

    def offset_flush(self, interval: int | timedelta) -> Self:
        """How often positions are stored: milliseconds, or a timedelta."""
        given = interval if isinstance(interval, timedelta) else timedelta(milliseconds=interval)
        return self._set("flush", given)

    def disable_continuous(self, disabled: bool = True) -> Self:
        """End where the log ends now."""
        return self._set("until_end", disabled)

    def _set(self, option: str, value: Any) -> Self:
        self._options[option] = value
        return self

    def build(self) -> ConsumerConfigExt:
        """The options, checked; InvalidConsumer if they do not go together."""
        if self._topic is None:
            raise InvalidConsumer("a topic is needed: ConsumerConfigExtBuilder().topic(...)")
        if self._partitions:
            self._options["partitions"] = list(self._partitions)
        config = ConsumerConfigExt(self._topic, self._options)
        config.consumer(bootstrap_servers="unasked:9092")  # checks, without a connection
        return config


class _Flushed:
    """Nothing is left to wait for."""

    def __await__(self) -> Generator[None]:
        yield from ()


class ConsumerStream:
    """The records of a consumer, which opens with its first record, or with ``with``."""

    def __init__(self, consumer: Consumer) -> None:
        self._consumer = consumer
        self._ahead: AsyncIterator[Record] | None = None

    @property
    def options(self) -> options.Options:
        """What was built."""
        return self._consumer.options

    def __iter__(self) -> Iterator[Record]:
        return map(_as_rfc, iter(self._consumer))

    def __next__(self) -> Record:
        return _as_rfc(next(self._consumer))

    async def __aiter__(self) -> AsyncIterator[Record]:
        async for record in self._consumer:
            yield _as_rfc(record)

    async def next(self) -> Record | None:
        """The next record; None at the end, with ``disable_continuous``."""
        self._ahead = self._ahead or aiter(self)
        try:
            return await anext(self._ahead, None)
        except BaseException:
            self._ahead = None  # a generator that has raised has ended
            raise

    def offset_commit(self, record: records.Record | None = None) -> None:
        """Mark everything handed out so far as done; or one record and those before it."""
        self._consumer.commit(record)

    def offset_flush(self) -> Awaitable[None]:
        """Store what is committed. In a coroutine, await it; elsewhere it is stored on return."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            self._consumer.flush()
            return _Flushed()
        return asyncio.create_task(self._consumer.flush_async())

    def close(self) -> None:
        """Store and let go of the name."""
        self._consumer.close()

    def __enter__(self) -> Self:
        self._consumer.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._consumer.__exit__(kind, error, trace)

    async def __aenter__(self) -> Self:
        await self._consumer.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._consumer.__aexit__(kind, error, trace)


def _as_rfc(record: records.Record) -> Record:
    return Record(record._message)


class Client:
    """A cluster to make consumers for."""

    def __init__(self, bootstrap_servers: str, security: Mapping[str, str]) -> None:
        self._connection = {"bootstrap_servers": bootstrap_servers, "security": security}

    def consumer_with_config(self, config: ConsumerConfigExt) -> ConsumerStream:
        """The stream of a consumer."""
        return ConsumerStream(config.consumer(**self._connection))


def connect(
    bootstrap_servers: str | None = None, security: Mapping[str, str] | None = None
) -> Client:
    """A client of these brokers, or of those that PENSTOCK_BOOTSTRAP_SERVERS names."""
    return Client(brokers(bootstrap_servers), dict(security or {}))
