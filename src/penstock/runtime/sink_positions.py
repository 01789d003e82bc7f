"""Sink positions that neither expire nor go back.

The truth is the group's committed offsets. Should the broker have let them expire, they are
restored from the copy that every commit also wrote, and never begin again in silence. Where Kafka
Connect has led since that copy was written, offsets that are gone were reset, and stay so. Those of
a topic that was deleted and made anew went with it: they say nothing about the new one.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any

from confluent_kafka.admin import AdminClient

from penstock.kafka import groups, topics
from penstock.kafka.groups import Committed
from penstock.kafka.sink_copies import SinkGroup
from penstock.kafka.topics import Position, partitions_of
from penstock.runtime.position_copies import PositionCopies

log = logging.getLogger(__name__)

RESET = "auto.offset.reset"


def begins_at_end(config: Mapping[str, str], worker: Mapping[str, Any]) -> bool:
    """Whether a sink begins at the end of partitions for which it has committed nothing.

    ``config`` is the connector's; ``worker`` are the worker's settings for all consumers.
    """
    chosen = config.get(f"consumer.override.{RESET}") or worker.get(RESET) or ""
    return str(chosen).strip().lower() == "latest"


def restored_positions(
    admin: AdminClient,
    copies: PositionCopies,
    sink: SinkGroup,
    partitions: Iterable[Position] = (),
) -> dict[Position, Committed]:
    """The committed offsets of a sink, after putting back those that have expired.

    ``partitions`` are those that a lease may have committed a moment ago for the first time.
    """
    group = sink.group_id
    known_copies = copies.of(sink)
    found = groups.committed(admin, group, {*partitions, *known_copies})
    expired = {p: c for p, c in known_copies.items() if p not in found}
    if expired:
        # Those of a deleted topic went with it; the broker would not take them back.
        known = partitions_of(admin, {topic for topic, _ in expired})
        expired = {(t, p): c for (t, p), c in expired.items() if p < known[t]}
    if expired:
        # Whoever led meanwhile has reset the sink; and what the leader forgets must not come back.
        current = {} if copies.outdated() else copies.of(sink)
        expired = {p: c for p, c in expired.items() if p in current}
    if expired:
        expired = _of_present_topics(admin, copies, sink, expired)
    if expired:
        log.warning(
            "the broker has lost %d offsets of group %s; restoring them", len(expired), group
        )
        groups.recommit(admin, group, expired)
    return {**found, **expired}


def _of_present_topics(
    admin: AdminClient,
    copies: PositionCopies,
    sink: SinkGroup,
    expired: Mapping[Position, Committed],
) -> dict[Position, Committed]:
    """Without those of topics that were made anew: all that is in them is still to be read."""
    ids = topics.ids(admin, {topic for topic, _ in expired})
    ends = topics.ends(admin, expired, committed=False)
    kept = {}
    for position, (offset, metadata) in expired.items():
        topic, partition = position
        same = copies.topic_id(sink, position) in (None, ids.get(topic))
        if same and offset <= ends.get(position, -1):
            kept[position] = offset, metadata
        else:
            log.warning(
                "%s-%d was made anew since it was read up to offset %d: it is read as a new one",
                topic,
                partition,
                offset,
            )
    return kept
