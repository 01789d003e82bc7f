"""What can go wrong with a named consumer; each text says what to do."""

from __future__ import annotations

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

    @staticmethod
    def of(name: str) -> Fenced:
        """Of this name."""
        return Fenced(
            f'consumer "{name}" was taken over by another process, or was away for longer than its '
            "session and somebody else used the name meanwhile: nothing is read, and nothing can "
            "be committed here any more. What was handed out since the last flush is read again "
            "there."
        )


class OffsetGone(ConsumerError):
    """The place to continue at is no longer in the log."""


class FlushFailed(ConsumerError):
    """Positions could not be stored; it is being tried again."""


class SessionOver(FlushFailed):
    """The holder of a name was out of touch for too long: it must be seen whether anybody came."""


class TopicExists(ConsumerError):
    """There is a topic of this name already."""


class InternalTopic(ConsumerError):
    """The topic is Kafka's or Penstock's own."""


class BadInput(ConsumerError):
    """What was to be produced is not as it was said to be; the text says where."""
