"""Where a consumer begins: what is stored, else where it was told to."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from confluent_kafka import KafkaException, TopicCollection

from penstock.consumers.counting_back import starts_of_last
from penstock.consumers.entries import Place, Snapshot, now
from penstock.consumers.errors import NoSuchTopic, OffsetGone
from penstock.consumers.offset import Kind, Offset
from penstock.consumers.options import Gone
from penstock.consumers.progress import Places
from penstock.consumers.reading import Plan
from penstock.kafka import groups, topics
from penstock.kafka.clients import Connection, GroupAdmin
from penstock.kafka.errors import AccessDenied, BrokerUnavailable, describe, is_denied

LEGAL = re.compile(r"[A-Za-z0-9._-]{1,249}")


@dataclass(frozen=True)
class Topic:
    """A topic as it is now; one that is made anew under its name has another id."""

    name: str
    id: str
    partitions: frozenset[int]
    """Those that are wanted."""
    count: int
    """How many it has in all."""


def find_topic(admin: GroupAdmin, name: str, wanted: Iterable[int] = ()) -> Topic:
    """The topic, with the partitions that are ``wanted``, or all; NoSuchTopic if there is none."""
    refuse_illegal(name)
    asked = admin.describe_topics(TopicCollection([name]), request_timeout=topics.ADMIN_TIMEOUT)
    try:
        found = asked[name].result(topics.ADMIN_TIMEOUT + 5)
    except KafkaException as error:
        raise no_topic(name, error) from error
    except TimeoutError:  # as happens to a process that was frozen meanwhile
        raise BrokerUnavailable(f"nobody has answered about topic {name} in time") from None
    every = frozenset(partition.id for partition in found.partitions)
    if missing := sorted(frozenset(wanted) - every):
        listed = ", ".join(map(str, missing))
        raise NoSuchTopic(
            f'topic "{name}" has no partition {listed}: it has {len(every)}, numbered from 0'
        )
    return Topic(name, str(found.topic_id), frozenset(wanted) or every, len(every))


def refuse_illegal(name: str) -> None:
    """NoSuchTopic if no topic can have this name: clients and brokers answer in many ways then."""
    if not LEGAL.fullmatch(name):
        raise NoSuchTopic(
            f"no topic can have the name {name!r}: names have up to 249 letters, digits, "
            '".", "_" and "-".'
        )


def no_topic(name: str, error: KafkaException) -> Exception:
    """The error that the answer to a question about one topic means."""
    if is_denied(error):
        return AccessDenied(f"see topic {name}", error)
    if error.args[0].code() in topics.GONE:
        return NoSuchTopic(
            f'there is no topic "{name}". `penstock topic list` lists the topics, '
            f"`penstock topic create {name}` makes it."
        )
    return BrokerUnavailable(describe(error))


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
        self.first: Places = {p: first.get((topic.name, p), 0) for p in wanted}
        self.end: Places = {p: end.get((topic.name, p), 0) for p in wanted}

    def places(self, offset: Offset, partitions: Iterable[int]) -> Places:
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
                f"partition {partition} of {self._topic.name} has offsets {first} to {end - 1} at "
                f"this moment, and not {offset.n}"
                if end > first
                else f"partition {partition} of {self._topic.name} is empty: its next offset is "
                f"{end}, not {offset.n}"
            )
        return offset.n

    def _before_the_end(self, n: int, partitions: list[int]) -> Places:
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

    def _at_time(self, milliseconds: int, partitions: list[int]) -> Places:
        asked = [(self._topic.name, partition) for partition in partitions]
        found = topics.at_time(self._admin, asked, milliseconds)
        return {p: found.get((self._topic.name, p), self.end[p]) for p in partitions}

    def contains(self, partition: int, place: int) -> bool:
        """Whether reading can go on there; also behind transactions that are still open."""
        if place <= self.end[partition]:
            return place >= self.first[partition]
        position = (self._topic.name, partition)
        return place <= topics.ends(self._admin, [position], committed=False).get(position, 0)

    def instead(self, policy: Gone, name: str, partition: int, place: int) -> int:
        """Where to go on if the place is gone; OffsetGone if nobody has said."""
        if policy is Gone.EARLIEST:
            return self.first[partition]
        if policy is Gone.LATEST:
            return self.end[partition]
        first, end = self.first[partition], self.end[partition]
        raise OffsetGone(
            f"{name} stands at offset {place} in partition {partition} of {self._topic.name}, "
            f"which is no longer in the log: that goes from {first} to {end} now. Go on with what "
            "is there (when_gone=earliest, --when-gone earliest), at the end (latest), or reset it."
        )


def stored_places(admin: GroupAdmin, snapshot: Snapshot, name: str, topic: Topic) -> Places:
    """What is stored under a name of this very topic, as its group has it or, where the broker has
    forgotten that, as the registry has. Of what has expired, or belongs to a topic that was deleted
    and made anew, nothing counts."""
    committed = groups.committed(admin, name)
    places: Places = {}
    for partition in topic.partitions:
        place = Place(name, topic.name, partition)
        entry = snapshot.entries.get(place)
        if entry and (entry.topic_id != topic.id or snapshot.expired(place, now())):
            continue
        if found := committed.get((topic.name, partition)):
            places[partition] = found[0]
        elif entry:
            places[partition] = entry.offset
    return places


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
) -> Places:
    """Where to begin in every partition: in those that were ``added``, with their first record."""
    if reset is not None:
        return ranges.places(reset, ranges.first)
    unknown = ranges.first.keys() - stored.keys()
    fresh = ranges.places(start, unknown - set(added))
    fresh |= ranges.places(Offset.beginning(), unknown & set(added))
    kept = {
        p: place if ranges.contains(p, place) else ranges.instead(when_gone, name, p, place)
        for p, place in stored.items()
    }
    return {**fresh, **kept}
