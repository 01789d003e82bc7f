"""Reads a topic and keeps its place under a name."""

from __future__ import annotations

import asyncio
import os
import weakref
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from datetime import timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

from penstock.consumers.errors import ConsumerError, InvalidConsumer, naming_brokers
from penstock.consumers.offset import BEGINNING, Offset, chosen_offset
from penstock.consumers.options import (
    FLUSH_SECONDS,
    Gone,
    Isolation,
    Options,
    Strategy,
    chosen,
    chosen_partitions,
    seconds,
)
from penstock.consumers.reading.progress import Batch
from penstock.consumers.reading.record import Record
from penstock.consumers.session import Session
from penstock.kafka.clients import Connection

if TYPE_CHECKING:
    import pyarrow as pa

ASYNC_SECONDS = 0.5

All = Literal["all"] | Callable[[Iterable[object]], bool]
"""All partitions, as "all" or as Python's own ``all``."""


class Consumer:
    """Hands out the records of a topic, in order within each partition.

    With a ``name`` the position is stored, and the next consumer of that name goes on there. With
    automatic commits, which are the default, asking for a record says that the one before is done:
    after a crash the record that was being handled comes again. With ``strategy="manual"`` only
    ``commit`` says so. Both are stored every ``flush`` seconds, by ``flush()`` and on a clean
    close.

    ``start`` counts where nothing is stored; ``reset`` counts in any case: an Offset, "beginning"
    or "end". ``when_gone`` says what
    to do if the stored position is no longer in the log: "fail", or go on "earliest" or "latest".

    A name is held by one process for each partition: another is refused with NameHeld unless it
    says ``take_over``, and the first can then no longer commit (Fenced). One that was out of touch
    with the brokers goes on if no other process came meanwhile, and raises FlushFailed until it
    can check that. With ``share``, instances of one name divide the partitions among themselves
    instead, and again when one comes or goes.

    Opens with ``with``, ``async with`` or the first record; use from one thread at a time. Once
    closed, it raises ConsumerError until it is opened again, by ``open`` or ``with``.
    """

    def __init__(
        self,
        topic: str,
        name: str | None = None,
        *,
        partitions: int | Iterable[int] | All | None = None,
        start: Offset | str = BEGINNING,
        reset: Offset | str | None = None,
        strategy: str | Strategy | None = None,
        flush: float | timedelta = FLUSH_SECONDS,
        ttl: float | timedelta | None = None,
        when_gone: str | Gone = Gone.FAIL,
        take_over: bool = False,
        share: bool = False,
        until_end: bool = False,
        last: int | None = None,
        max_bytes: int | None = None,
        isolation: str = "read_committed",
        bootstrap_servers: str | None = None,
        security: Mapping[str, str] | None = None,
    ) -> None:
        """InvalidConsumer if these do not go together; nothing is asked of the brokers yet.

        Brokers: as given, else PENSTOCK_BOOTSTRAP_SERVERS. ``security`` are settings of the client
        (``security.protocol``, ``sasl.*``, ``ssl.*``). ``until_end`` ends where the
        log ends now, ``last`` after this offset of every partition.
        """
        self.options = Options(
            topic=topic,
            name=name,
            partitions=chosen_partitions(partitions),
            start=chosen_offset(start, "start"),
            reset=None if reset is None else chosen_offset(reset, "reset"),
            strategy=None if strategy is None else chosen(Strategy, strategy, "strategy"),
            flush=seconds(flush),
            ttl=None if ttl is None else seconds(ttl),
            when_gone=chosen(Gone, when_gone, "when_gone"),
            take_over=take_over,
            share=share,
            until_end=until_end,
            last=last,
            max_bytes=max_bytes,
            committed_only=chosen(Isolation, isolation, "isolation") is Isolation.COMMITTED,
        )
        self._connection = Connection(brokers(bootstrap_servers), dict(security or {}))
        self._session: Session | None = None
        self._records: Iterator[Record] | None = None
        self._closed = False

    def open(self) -> Self:
        """Take the name and begin, also once closed; what is open already stays so."""
        if self._session is None:
            with naming_brokers(self._connection.bootstrap_servers):
                self._session = session = Session(self.options, self._connection)
            # Without a close, only the last record does not count as done.
            self._forgotten = weakref.finalize(self, session.close, done=False)
        self._closed = False
        return self

    def _opened(self) -> Session:
        if self._closed:
            raise ConsumerError(
                "this consumer is closed: open it again, with open() or `with`, to go on"
            )
        self.open()
        assert self._session is not None  # noqa: S101 (just opened)
        return self._session

    def __iter__(self) -> Iterator[Record]:
        """Records without end; a loop that was left goes on with the record after its last."""
        return self._records_of(self._opened())

    def _records_of(self, session: Session) -> Iterator[Record]:
        """Keeps the consumer, too, which is closed once it is garbage."""
        yield from session.records()

    def __next__(self) -> Record:
        """The next record; StopIteration only with ``until_end`` or once closed."""
        if self._closed:
            raise StopIteration
        if self._records is None:
            self._records = self._opened().records()
        try:
            return next(self._records)
        except Exception as error:
            if not isinstance(error, StopIteration):
                self._records = None  # a generator that has raised has ended
            raise

    def take(
        self, limit: int | None = None, *, patience: float | None = None
    ) -> list[Record] | None:
        """The next records that are there, at most ``limit``; None at the end.

        Waits for a first one; with ``patience`` only that many seconds, and then there are none.
        With automatic commits, asking for more says that all of those before are done.
        """
        batch = self._opened().next_batch(patience)
        return None if batch is None else batch.take(limit)

    def batches(self) -> Iterator[list[Record]]:
        """Records as they were fetched, many at a time: asking for the next batch commits the one
        before, where commits are automatic."""
        session = self._opened()
        while (batch := session.next_batch()) is not None:
            yield batch.take()

    def take_arrow(
        self,
        limit: int | None = None,
        *,
        patience: float | None = None,
        headers: bool = False,
        timestamps: bool = True,
    ) -> list[pa.RecordBatch] | None:
        """As ``take``, in columns: topic, partition, key, value (bytes), timestamp, headers and
        offset, each batch of one partition. This is the fastest way to read. Headers cost half of
        that speed, timestamps a third: the first call says which of them are filled in."""
        batch = self._opened().next_columns(patience, headers=headers, timestamps=timestamps)
        return None if batch is None else batch.take(limit)

    def arrow_batches(
        self, *, headers: bool = False, timestamps: bool = True
    ) -> Iterator[pa.RecordBatch]:
        """Arrow batches without end: asking for the next commits the one before, where commits are
        automatic."""
        session, wanted = self._opened(), {"headers": headers, "timestamps": timestamps}
        while (batch := session.next_columns(**wanted)) is not None:
            yield batch.take_run()

    @property
    def resumed(self) -> frozenset[int]:
        """The partitions in which it has gone on from where its name had stopped."""
        return self._opened().resumed

    async def __aiter__(self) -> AsyncIterator[Record]:
        """The same, without keeping the event loop waiting."""
        session = await asyncio.to_thread(self._opened)
        while (batch := await self._batch_of(session)) is not None:
            for record in batch.records():
                yield record

    async def _batch_of(self, session: Session) -> Batch | None:
        """A cancelled call leaves a thread behind, which must end by itself and do nothing once
        another call has asked: so the question is noted here, not there."""
        return await asyncio.to_thread(session.next_batch, ASYNC_SECONDS, session.ask())

    def commit(self, record: Record | None = None) -> None:
        """Mark everything handed out so far as done; or one record and those before it in its
        partition. NothingStored for a consumer without a name, ConsumerError for a record that it
        has not handed out."""
        self._opened().commit(record)

    def flush(self) -> None:
        """Return when everything that is committed is stored for good."""
        self._opened().flush()

    async def flush_async(self) -> None:
        """The same, to be awaited."""
        await asyncio.to_thread(self.flush)

    def close(self) -> None:
        """Store and let go of the name. The record handed out last counts as done."""
        self._close(done=True)

    def _close(self, *, done: bool) -> None:
        session, self._session, self._records = self._session, None, None
        self._closed = True
        if session is not None:
            self._forgotten.detach()
            session.close(done=done)

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """After an error the record handed out last is not done: it comes again."""
        self._close(done=kind is None)

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self.open)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await asyncio.to_thread(lambda: self._close(done=kind is None))


def brokers(given: str | None) -> str:
    """The brokers to talk to."""
    found = given or os.environ.get("PENSTOCK_BOOTSTRAP_SERVERS", "")
    if not found:
        raise InvalidConsumer(
            "no brokers: give bootstrap_servers, or set PENSTOCK_BOOTSTRAP_SERVERS to host:port,..."
        )
    return found
