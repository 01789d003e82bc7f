"""The topics in which queries with aggregates, or joins of a kind, keep what they know."""

from __future__ import annotations

import logging

from confluent_kafka import KafkaException

from penstock.kafka import topics
from penstock.kafka.errors import describe
from penstock.sql.catalog.query import PersistentQuery
from penstock.sql.running.home import Home

log = logging.getLogger(__name__)


def make(home: Home, query: PersistentQuery) -> None:
    """Make the one of a query, if it needs one."""
    if query.state_topic:
        topics.ensure_topic(
            home.catalog.admin,
            query.state_topic,
            partitions=1,
            replication=-1,
            config={"cleanup.policy": "compact"},
        )


def delete(home: Home, query: PersistentQuery) -> None:
    """Delete it: nothing else reads it. If the brokers refuse, it stays, and that is logged."""
    if not query.state_topic:
        return
    deleted = home.catalog.admin.delete_topics([query.state_topic])[query.state_topic]
    try:
        deleted.result(topics.ADMIN_TIMEOUT)
    except KafkaException as error:
        log.warning("topic %s was not deleted: %s", query.state_topic, describe(error))
