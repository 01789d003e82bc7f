"""How far a consumer has come: what was handed out, what of it counts as done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from confluent_kafka import Message

from penstock.consumers.record import Record

Places = dict[int, int]
"""Of each partition, the offset to be read next."""


@dataclass
class Batch:
    """Records that were fetched together, handed out one by one."""

    messages: Sequence[Message] = ()
    ends: Mapping[int, int] = field(default_factory=dict)
    """Where partitions end behind these records: markers of transactions have offsets too."""
    given: int = 0

    @property
    def used_up(self) -> bool:
        """Whether all have been handed out."""
        return self.given >= len(self.messages)

    def records(self) -> Iterator[Record]:
        """Hand out those that are left; whoever else does so meanwhile takes them from here."""
        messages, size = self.messages, len(self.messages)
        while (at := self.given) < size:
            self.given = at + 1
            yield Record(messages[at])

    def places(self, count: int) -> Places:
        """Where to go on after the first ``count`` of them."""
        done = self.messages if count >= len(self.messages) else self.messages[: max(count, 0)]
        # Of equal keys the last one counts; all of it without a loop of Python's.
        last = dict(zip(map(Message.partition, done), map(Message.offset, done), strict=True))
        places = {p or 0: (offset or 0) + 1 for p, offset in last.items()}
        return places if count < len(self.messages) else further(places, self.ends)


def further(places: Mapping[int, int], others: Mapping[int, int]) -> Places:
    """Of each partition the later place: positions never go back by themselves."""
    both = dict(places)
    for partition, place in others.items():
        both[partition] = max(place, both.get(partition, place))
    return both


class Progress:
    """What has been handed out and what is committed. To be used under its owner's lock."""

    def __init__(self, starts: Mapping[int, int], *, automatic: bool) -> None:
        self.batch = Batch()
        self._automatic = automatic
        self._before: Places = dict(starts)
        self._committed: Places = dict(starts)

    def next_batch(self, batch: Batch) -> None:
        """Go on with another batch: all of the one before has been handed out."""
        self._before = self.handed_out()
        if self._automatic:
            self._committed = further(self._committed, self._before)
        self.batch = batch

    def asked_for_more(self) -> None:
        """Whoever asks for the next record has done with the last."""
        if self._automatic:
            self.commit()

    def handed_out(self) -> Places:
        """Where to go on after the last record that was handed out."""
        return further(self._before, self.batch.places(self.batch.given))

    def commit(self, places: Mapping[int, int] | None = None) -> None:
        """Everything handed out so far counts as done; or just what lies before ``places``."""
        given = self.handed_out() if places is None else places
        self._committed = further(self._committed, given)

    def committed(self) -> Places:
        """Where to go on next time. With automatic commits the last one handed out is not done."""
        if not self._automatic:
            return dict(self._committed)
        done = further(self._before, self.batch.places(self.batch.given - 1))
        return further(self._committed, done) if self.batch.given else dict(self._committed)
