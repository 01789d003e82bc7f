"""A dead letter topic, read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from penstock.consumers.consumer import Consumer
from penstock.consumers.letters.choice import Choice
from penstock.consumers.letters.letter import Letter
from penstock.kafka import clients, topics
from penstock.kafka.clients import Connection

COUNTED = 100_000
"""Offsets up to which letters are counted one by one: transactions leave offsets without any."""


@dataclass(frozen=True)
class Count:
    """How many letters a topic holds."""

    number: int
    exact: bool = True
    """If not, there are at most so many."""


@dataclass(frozen=True)
class Mailbox:
    """The committed letters of one topic."""

    connection: Connection
    topic: str

    def letters(self, choice: Choice) -> Iterator[Letter]:
        """Those that are meant and there now, in order within each partition.

        NoSuchTopic if the topic, or a partition that is asked for, does not exist.
        """
        with self._reader(choice) as reader:
            for batch in reader.batches():
                yield from filter(choice.takes, map(Letter.of, batch))

    def count(self) -> Count:
        """How many there are; none if there is no such topic."""
        admin = clients.admin(self.connection)
        partitions = range(topics.partitions_of(admin, [self.topic])[self.topic])
        positions = [(self.topic, partition) for partition in partitions]
        first = topics.beginnings(admin, positions)
        ends = topics.ends(admin, positions, committed=True)
        most = sum(ends[each] - first.get(each, 0) for each in ends)
        return Count(most, exact=False) if most > COUNTED else Count(self._counted() if most else 0)

    def _counted(self) -> int:
        with self._reader(Choice()) as reader:
            batches = reader.arrow_batches(headers=False, timestamps=False)
            return sum(batch.num_rows for batch in batches)

    def _reader(self, choice: Choice) -> Consumer:
        return Consumer(
            self.topic,
            partitions=choice.partitions or None,
            until_end=True,
            last=choice.end,
            when_gone="earliest",
            bootstrap_servers=self.connection.bootstrap_servers,
            security=self.connection.security,
        )
