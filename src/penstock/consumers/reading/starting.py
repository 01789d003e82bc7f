"""Where a consumer begins: what is stored, else where it was told to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from penstock.consumers.errors import OffsetGone
from penstock.consumers.offset import Kind, Offset
from penstock.consumers.options import Gone
from penstock.consumers.reading.counting_back import starts_of_last
from penstock.consumers.reading.progress import Offsets
from penstock.consumers.reading.reading import Plan
from penstock.consumers.registry.entries import RegistryKey, Snapshot, now
from penstock.consumers.topic import Topic
from penstock.kafka import groups, topics
from penstock.kafka.clients import Connection, GroupAdmin
from penstock.kafka.errors import BrokerUnavailable


class Ranges:
    """What partitions of a topic hold at this moment."""

    def __init__(
        self,
        connection: Connection,
        admin: GroupAdmin,
        topic: Topic,
        partitions: Iterable[int] | None = None,
        *,
        committed: bool = True,
    ) -> None:
        """Of some partitions, or of all."""
        self._connection = connection
        self._admin = admin
        self._topic = topic
        self._committed = committed
        wanted = topic.partitions if partitions is None else frozenset(partitions)
        every = [(topic.name, partition) for partition in wanted]
        first = topics.beginnings(admin, every)
        end = topics.ends(admin, every, committed=committed)
        if missing := [p for _, p in every if (topic.name, p) not in first.keys() & end.keys()]:
            # Not to be taken for empty: what is read to its end would end at once, in silence.
            raise BrokerUnavailable(
                f"the brokers do not know partition {missing[0]} of topic {topic.name} at this "
                "moment, which may have been deleted just now; try again"
            )
        self.first: Offsets = {p: first[topic.name, p] for p in wanted}
        self.end: Offsets = {p: end[topic.name, p] for p in wanted}

    def offsets(self, offset: Offset, partitions: Iterable[int]) -> Offsets:
        """Where an offset is in each of the partitions; OffsetGone if there is no such place."""
        wanted = list(partitions)
        if offset.kind is Kind.TIME:
            return self._at_time(offset.n, wanted)
        if offset.kind is Kind.END:
            return self._before_the_end(offset.n, wanted)
        return {partition: self._place(offset, partition) for partition in wanted}

    def _place(self, offset: Offset, partition: int) -> int:
        first, end = self.first[partition], self.end[partition]
        if offset.kind is Kind.BEGINNING:
            return min(first + offset.n, end)
        if not self.contains(partition, offset.n):
            raise OffsetGone(
                f"partition {partition} of {self._topic.name} has offsets {first} to {end - 1}, "
                f"not {offset.n}"
                if end > first
                else f"partition {partition} of {self._topic.name} is empty: its next offset is "
                f"{end}, not {offset.n}"
            ).advising("Give an offset that is there.")
        return offset.n

    def _before_the_end(self, n: int, partitions: list[int]) -> Offsets:
        plan = Plan(
            connection=self._connection,
            topic=self._topic.name,
            starts={},
            when_gone=lambda partition: self.end[partition],
            settings={},
            stops={partition: self.end[partition] for partition in partitions},
            committed=self._committed,
        )
        return starts_of_last(n, plan, self.first)

    def _at_time(self, milliseconds: int, partitions: list[int]) -> Offsets:
        asked = [(self._topic.name, partition) for partition in partitions]
        found = topics.at_time(self._admin, asked, milliseconds)
        return {p: found.get((self._topic.name, p), self.end[p]) for p in partitions}

    def contains(self, partition: int, offset: int) -> bool:
        """Whether reading can go on there; also behind transactions that are still open."""
        if offset <= self.end[partition]:
            return offset >= self.first[partition]
        position = (self._topic.name, partition)
        return offset <= topics.ends(self._admin, [position], committed=False).get(position, 0)

    def instead(self, policy: Gone, name: str, partition: int, offset: int) -> int:
        """Where to go on if the place is gone; OffsetGone if there is no policy."""
        if policy is Gone.EARLIEST:
            return self.first[partition]
        if policy is Gone.LATEST:
            return self.end[partition]
        first, end = self.first[partition], self.end[partition]
        raise OffsetGone(
            f"{name} is at offset {offset} in partition {partition} of {self._topic.name}, "
            f"which is no longer in the log: the log now has {first} to {end}. Go on with the "
            "earliest record (when_gone=earliest, --when-gone earliest) or at the end (latest), or "
            "reset it."
        )


def stored_offsets(admin: GroupAdmin, snapshot: Snapshot, name: str, topic: Topic) -> Offsets:
    """What is stored under a name of this very topic, as its group has it or, where the broker has
    forgotten that, as the registry has. Of what has expired, or belongs to a topic that was deleted
    and created again, nothing counts."""
    committed = groups.committed(admin, name)
    offsets: Offsets = {}
    for partition in topic.partitions:
        key = RegistryKey(name, topic.name, partition)
        entry = snapshot.entries.get(key)
        if entry and (entry.topic_id != topic.id or snapshot.expired(key, now())):
            continue
        if found := committed.get((topic.name, partition)):
            offsets[partition] = found[0]
        elif entry:
            offsets[partition] = entry.offset
    return offsets


def added_since(snapshot: Snapshot, name: str, topic: Topic) -> frozenset[int]:
    """The partitions that the topic did not have yet when something was stored under a name."""
    entries = snapshot.of(name, topic.name).values()
    known = min((e.partitions for e in entries if e.topic_id == topic.id), default=0)
    return frozenset(p for p in topic.partitions if 0 < known <= p)


def starts(
    stored: Mapping[int, int],
    ranges: Ranges,
    *,
    added: Collection[int] = (),
    start: Offset,
    reset: Offset | None,
    when_gone: Gone,
    name: str,
) -> Offsets:
    """Where to begin in every partition: in those that were ``added``, with their first record."""
    if reset is not None:
        return ranges.offsets(reset, ranges.first)
    unknown = ranges.first.keys() - stored.keys()
    fresh = ranges.offsets(start, unknown - set(added))
    fresh |= ranges.offsets(Offset.beginning(), unknown & set(added))
    kept = {
        p: offset if ranges.contains(p, offset) else ranges.instead(when_gone, name, p, offset)
        for p, offset in stored.items()
    }
    return {**fresh, **kept}
