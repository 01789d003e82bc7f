"""A topic, found by its name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from confluent_kafka import KafkaException, TopicCollection

from penstock.consumers.errors import NoSuchTopic
from penstock.kafka import topics
from penstock.kafka.clients import GroupAdmin
from penstock.kafka.errors import AccessDenied, BrokerUnavailable, describe, is_denied

LEGAL = re.compile(r"[A-Za-z0-9._-]{1,249}")


@dataclass(frozen=True)
class Topic:
    """A topic as it is now; one that was created again under its name has another id."""

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
        raise BrokerUnavailable(f"no broker answered in time about topic {name}") from None
    every = frozenset(partition.id for partition in found.partitions)
    if missing := sorted(frozenset(wanted) - every):
        listed = ", ".join(map(str, missing))
        raise NoSuchTopic(
            f'topic "{name}" has no partition {listed}: it has {len(every)}, numbered from 0'
        ).advising("`penstock topic describe NAME` shows its partitions.")
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
            f"`penstock topic create {name}` creates it."
        )
    return BrokerUnavailable(describe(error))
