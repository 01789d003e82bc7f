"""Sends dead letters to the topics that they came from, in transactions, each at most once.

First the letters are read and it is decided where each belongs, without writing anything; then
exactly these are read again and sent. So what cannot be sent is known before the first is, and
letters that arrive meanwhile, perhaps because a replayed one has failed again, stay where they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.consumers.errors import ConsumerError
from penstock.consumers.letters.choice import Choice
from penstock.consumers.letters.letter import Letter
from penstock.consumers.letters.mailbox import Mailbox
from penstock.consumers.topics_admin import is_internal
from penstock.kafka import clients, topics
from penstock.kafka.errors import KafkaFault, LeaseLost, OutcomeUnknown, TransactionAborted
from penstock.kafka.transactions import Transactions

TOGETHER = 1000
TOGETHER_BYTES = 8 * 1024 * 1024
ATTEMPTS = 5
NAMED = 5
REPLAY_AGAIN = "Remove the cause, then replay what is left."
"""Letters that an error names one by one."""


class ReplayError(ConsumerError):
    """Letters cannot be replayed, or not all were; the text says which and what to do."""


@dataclass(frozen=True)
class Planned:
    """A letter, and where it is sent."""

    partition: int
    offset: int
    topic: str
    target_partition: int | None = None
    """None leaves it to the key."""

    def facts(self) -> dict[str, Any]:
        """For a program."""
        return {
            "partition": self.partition,
            "offset": self.offset,
            "to": {"topic": self.topic, "partition": self.target_partition},
        }


class Replay:
    """One replay of letters of one topic."""

    def __init__(self, mailbox: Mailbox, choice: Choice, to: str = "") -> None:
        """``to``: a topic for all of them, instead of those that they came from."""
        self._mailbox = mailbox
        self._choice = choice
        self._to = to

    def plan(self) -> list[Planned]:
        """Where each letter goes; ReplayError if one of them has no place to go."""
        wanted = [self._wanted(letter) for letter in self._mailbox.letters(self._choice)]
        self._refuse_homeless(wanted)
        self._refuse_targets({each.topic for each in wanted})
        sizes = self._partitions({each.topic for each in wanted})
        return [_within(each, sizes[each.topic]) for each in wanted]

    def _wanted(self, letter: Letter) -> Planned:
        place = (letter.partition, letter.offset)
        if self._to or letter.from_source:
            return Planned(*place, self._to or letter.topic)
        return Planned(*place, letter.topic, letter.original_partition)

    def _refuse_homeless(self, wanted: Sequence[Planned]) -> None:
        homeless = [each for each in wanted if not each.topic]
        if homeless:
            raise ReplayError(
                f"{_named(homeless)} of {self._mailbox.topic} cannot be replayed: no header says "
                "which topic they belong to. Name one with --to TOPIC. (A connector writes these "
                "headers with errors.deadletterqueue.context.headers.enable=true.)"
            )

    def _refuse_targets(self, targets: Iterable[str]) -> None:
        for topic in sorted(targets):
            if topic == self._mailbox.topic:
                raise ReplayError(
                    f"{topic} is the dead letter topic itself: name another with --to."
                )
            # Headers can be written by anybody who may write to the dead letter topic.
            if is_internal(topic):
                raise ReplayError(
                    f"{topic} is an internal topic: letters are not replayed to it. Name another "
                    "with --to."
                )

    def _partitions(self, targets: Iterable[str]) -> Mapping[str, int]:
        sizes = topics.partitions_of(clients.admin(self._mailbox.connection), targets)
        if missing := sorted(topic for topic, size in sizes.items() if not size):
            raise ReplayError(
                f"There is no topic {', '.join(missing)} to replay letters to. Create it "
                f"(`penstock topic create {missing[0]}`), or name another with --to."
            )
        return sizes

    def run(self, plan: Sequence[Planned]) -> Iterator[list[Planned]]:
        """Send them; each list that is yielded has been committed, and its letters are in topics.

        ReplayError if it cannot go on: what was not yielded was not sent, unless it says that the
        outcome is not known.
        """
        if not plan:
            return
        planned = {(each.partition, each.offset): each for each in plan}
        owner = f"penstock-replay-{self._mailbox.topic}"
        transactions = Transactions(self._mailbox.connection, owner)
        for letters in _together(self._mailbox.letters(self._choice), planned):
            self._send(transactions, letters)
            yield [place for _, place in letters]
        if planned:
            raise ReplayError(
                f"{_named(list(planned.values()))} of {self._mailbox.topic} are gone: they were "
                "deleted from the topic before they could be replayed."
            ).advising("`penstock dlq show TOPIC` shows what is left.")

    def _send(self, transactions: Transactions, letters: Sequence[tuple[Letter, Planned]]) -> None:
        planned = [each for _, each in letters]
        for attempt in range(ATTEMPTS):
            try:
                for letter, place in letters:
                    _send_one(transactions, letter, place)
                transactions.commit((), ())
                return
            except TransactionAborted as error:
                if not error.passing or attempt == ATTEMPTS - 1:
                    raise ReplayError(f"{_named(planned)} were not replayed: {error}").advising(
                        error.next_step or REPLAY_AGAIN
                    ) from error
            except OutcomeUnknown as error:
                raise ReplayError(_unknown(planned, error)) from error
            except LeaseLost as error:
                raise ReplayError(
                    f"{_named(planned)} were not replayed: another replay of "
                    f"{self._mailbox.topic} has begun ({error})."
                ).advising("Wait until that one has ended, then replay what is left.") from error
            except KafkaFault as error:
                transactions.abort()
                raise ReplayError(f"{_named(planned)} were not replayed: {error}").advising(
                    error.next_step or REPLAY_AGAIN
                ) from error


def _send_one(transactions: Transactions, letter: Letter, place: Planned) -> None:
    more: dict[str, Any] = {"headers": list(letter.headers)} if letter.headers else {}
    if place.target_partition is not None:
        more["partition"] = place.target_partition
    if letter.timestamp is not None and letter.timestamp > 0:
        more["timestamp"] = letter.timestamp
    transactions.send(place.topic, letter.value, letter.key, **more)


def _within(planned: Planned, partitions: int) -> Planned:
    """The partition is chosen by the key if the one that it came from is not there."""
    target = planned.target_partition
    if target is None or target < partitions:
        return planned
    return Planned(planned.partition, planned.offset, planned.topic)


def _together(
    letters: Iterable[Letter], planned: dict[tuple[int, int], Planned]
) -> Iterator[list[tuple[Letter, Planned]]]:
    """As many as belong in a transaction. Each is taken out of what is planned: it comes once."""
    batch: list[tuple[Letter, Planned]] = []
    size = 0
    for letter in letters:
        place = planned.pop((letter.partition, letter.offset), None)
        if place is None:
            continue
        batch.append((letter, place))
        size += letter.size
        if len(batch) >= TOGETHER or size >= TOGETHER_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _named(planned: Sequence[Planned]) -> str:
    places = [f"{each.partition}/{each.offset}" for each in planned[:NAMED]]
    more = f" and {len(planned) - NAMED:,} more" if len(planned) > NAMED else ""
    return f"Letters {', '.join(places)}{more}"


def _unknown(planned: Sequence[Planned], error: Exception) -> str:
    topic = planned[0].topic
    return (
        f"{_named(planned)} may or may not have been replayed: the brokers did not say whether "
        f"the transaction was committed ({error}). Look at the end of topic {topic} before you "
        "replay them again."
    )
