"""How far a consumer has come: what was handed out, what of it counts as done."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from confluent_kafka import Message

from penstock.consumers.reading.record import Record

Offsets = dict[int, int]
"""Of each partition, the offset to be read next."""


class Fetched(Protocol):
    """Records that were fetched together, handed out bit by bit."""

    given: int
    together: int
    """How many of those given were handed out at once, by the last call."""
    halted: bool
    """Whether nothing more is to be handed out before the next call, which tells why."""

    @property
    def size(self) -> int:
        """How many records there are."""

    @property
    def used_up(self) -> bool:
        """Whether all have been handed out."""

    def offsets(self, count: int) -> Offsets:
        """Where to go on after the first ``count`` of them."""

    def reached(self, partition: int) -> int:
        """Where to go on in a partition after those that were given; 0 if they are of others."""


@dataclass
class Batch:
    """Records that were fetched together, handed out one by one."""

    messages: Sequence[Message] = ()
    ends: Mapping[int, int] = field(default_factory=dict)
    """Where partitions end behind these records: markers of transactions have offsets too."""
    given: int = 0
    together: int = 1
    halted: bool = False
    _all: Offsets | None = None

    @property
    def size(self) -> int:
        """How many records there are."""
        return len(self.messages)

    @property
    def used_up(self) -> bool:
        """Whether all have been handed out."""
        return self.given >= len(self.messages)

    def records(self) -> Iterator[Record]:
        """Hand out those that are left, unless ``halted``; another thread that does so meanwhile
        takes them from here."""
        messages, size = self.messages, len(self.messages)
        self.together = 1
        while (at := self.given) < size and not self.halted:
            self.given = at + 1
            yield Record(messages[at])

    def take(self, limit: int | None = None) -> list[Record]:
        """Hand out those that are left at once, or the next ``limit`` of them."""
        begin, size = self.given, len(self.messages)
        end = size if limit is None else min(size, begin + limit)
        self.together = end - begin  # first: meanwhile too few may count as done, never too many
        self.given = end
        return list(map(Record, self.messages[begin:end]))

    def offsets(self, count: int) -> Offsets:
        """Where to go on after the first ``count`` of them."""
        if count < len(self.messages):
            return _offsets(self.messages[: max(count, 0)])
        if self._all is None:
            self._all = further(_offsets(self.messages), self.ends)
        return self._all

    def reached(self, partition: int) -> int:
        """Where to go on in a partition after those that were given; 0 if they are of others."""
        # Backwards: mostly it is asked for the last one.
        given = map(self.messages.__getitem__, range(self.given - 1, -1, -1))
        return next(((m.offset() or 0) + 1 for m in given if m.partition() == partition), 0)


def _offsets(messages: Sequence[Message]) -> Offsets:
    # Of equal keys the last one counts; all of it without a loop of Python's.
    last = dict(zip(map(Message.partition, messages), map(Message.offset, messages), strict=True))
    return {partition or 0: (offset or 0) + 1 for partition, offset in last.items()}


def further(offsets: Mapping[int, int], others: Mapping[int, int]) -> Offsets:
    """Of each partition the later place: positions never go back by themselves."""
    both = dict(offsets)
    for partition, offset in others.items():
        both[partition] = max(offset, both.get(partition, offset))
    return both


class Progress:
    """What has been handed out and what is committed. To be used under its owner's lock."""

    def __init__(self, starts: Mapping[int, int], *, automatic: bool) -> None:
        self.batch: Fetched = Batch()
        self._automatic = automatic
        self._before: Offsets = dict(starts)
        self._committed: Offsets = dict(starts)

    def begin(self, starts: Mapping[int, int]) -> None:
        """Read these partitions too from now on."""
        self._before.update(starts)
        self._committed.update(starts)

    def drop(self, partitions: Collection[int]) -> None:
        """Another process reads these from now on; called between two batches."""
        for offsets in (self._before, self._committed):
            for partition in partitions:
                offsets.pop(partition, None)
        self.batch = Batch()

    def next_batch(self, batch: Fetched) -> None:
        """Go on with another batch: all of the one before has been handed out."""
        self._before = self.handed_out()
        if self._automatic:
            self._committed = further(self._committed, self._before)
        self.batch = batch

    def asked_for_more(self) -> None:
        """Asking for the next record says that the last one is done."""
        if self._automatic:
            self.commit()

    def handed_out(self) -> Offsets:
        """Where to go on after the last record that was handed out."""
        return further(self._before, self.batch.offsets(self.batch.given))

    def was_handed_out(self, partition: int, offset: int) -> bool:
        """Whether this lies before what is to be handed out next."""
        reached = self._before.get(partition, 0)
        return offset < reached or offset < self.batch.reached(partition)

    def commit(self, offsets: Mapping[int, int] | None = None) -> None:
        """Everything handed out so far counts as done; or just what lies before ``places``."""
        given = self.handed_out() if offsets is None else offsets
        self._committed = further(self._committed, given)

    def committed(self) -> Offsets:
        """Where to go on next time. With automatic commits what was handed out last is not done."""
        if not self._automatic:
            return dict(self._committed)
        done = further(self._before, self.batch.offsets(self.batch.given - self.batch.together))
        return further(self._committed, done) if self.batch.given else dict(self._committed)
