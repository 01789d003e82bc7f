"""Records of a topic to infer its columns from."""

from __future__ import annotations

from itertools import islice

from penstock.consumers import Consumer, NoSuchTopic, Offset
from penstock.kafka.clients import Connection
from penstock.sql.catalog.inference import Sampled
from penstock.sql.errors import StatementError

MOST = 100


def sample_of(connection: Connection, topic: str) -> list[Sampled]:
    """The last records of a topic, of each partition some."""
    consumer = Consumer(
        topic,
        start=Offset.from_end(MOST),
        until_end=True,
        bootstrap_servers=connection.bootstrap_servers,
        security=connection.security,
    )
    try:
        with consumer:
            found = [Sampled(each.key, each.value) for each in islice(consumer, MOST)]
    except NoSuchTopic:
        raise StatementError(f"Topic {topic} does not exist.") from None
    return found
