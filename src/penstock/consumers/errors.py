"""What can go wrong with a named consumer; each text says what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from penstock.kafka.errors import BrokerUnavailable
from penstock.sdk.errors import PenstockError


class ConsumerError(PenstockError):
    """Base of the errors of this room."""


class InvalidConsumer(ConsumerError):
    """These options do not go together."""


class NoSuchTopic(ConsumerError):
    """The topic, or one of the partitions, does not exist."""


class NoSuchConsumer(ConsumerError):
    """Nothing is kept under this name."""


class NothingStored(ConsumerError):
    """The consumer has no name, so there is nothing to commit to."""


class NameHeld(ConsumerError):
    """Another process reads under this name at this moment."""


class Fenced(ConsumerError):
    """Another process has taken over this name: nothing can be committed here any more."""

    next_step = "`penstock consumer list` shows where it stands. To go on there, start again."

    @staticmethod
    def of(name: str) -> Fenced:
        """Of this name."""
        return Fenced(
            f'consumer "{name}" was taken over by another process, or another one used the name '
            "while this one had lost its session: it can no longer read or commit. What it was "
            "given since the last flush is read again by the other."
        )


class OffsetGone(ConsumerError):
    """The place to continue at is no longer in the log."""


class FlushFailed(ConsumerError):
    """Positions could not be stored; it is being tried again."""

    next_step = BrokerUnavailable.next_step


class SessionOver(FlushFailed):
    """The holder of a name had no contact for too long: another may have taken the name."""


class TopicExists(ConsumerError):
    """There is a topic of this name already."""

    next_step = "`penstock topic describe NAME` shows it; --if-not-exists accepts that it is there."


class InternalTopic(ConsumerError):
    """The topic is Kafka's or Penstock's own."""


class BadInput(ConsumerError):
    """What was to be produced is not as it was said to be; the text says where."""


@contextmanager
def naming_brokers(servers: str) -> Iterator[None]:
    """BrokerUnavailable from in here says which brokers were asked."""
    try:
        yield
    except BrokerUnavailable as error:
        if servers in str(error):
            raise
        raise BrokerUnavailable(
            f"No broker answered at {servers} ({error}). Check the address, and that brokers run."
        ) from error
