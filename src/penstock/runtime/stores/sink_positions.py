"""Sink positions that neither expire nor go back.

The group's committed offsets decide. If they have expired, the copy that every commit also wrote
says what they were, so no sink silently starts over. If Kafka Connect has led since that copy was
written, missing offsets were reset, and stay so. Offsets of a topic that was deleted and recreated
were deleted with it: they say nothing about the new one.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any

from confluent_kafka.admin import AdminClient

from penstock.kafka import groups, topics
from penstock.kafka.groups import Committed
from penstock.kafka.sink_copies import SinkGroup
from penstock.kafka.topics import PartitionId, partitions_of
from penstock.runtime.stores.position_copies import PositionCopies
from penstock.runtime.stores.sink_snapshot import Positions

log = logging.getLogger(__name__)

HELD_UP = (
    "the copies of sink positions cannot be read to their end, since another sink's commit is not "
    "finished: %d partitions without a committed offset wait for it"
)
RESET = "auto.offset.reset"
MADE_ANEW = "%s-%d was recreated since it was read up to offset %d: reading it as a new one"


def begins_at_end(config: Mapping[str, str], worker: Mapping[str, Any]) -> bool:
    """Whether a sink starts at the end of partitions for which it has committed nothing.

    ``config`` is the connector's; ``worker`` are the worker's settings for all consumers.
    """
    chosen = config.get(f"consumer.override.{RESET}") or worker.get(RESET) or ""
    return str(chosen).strip().lower() == "latest"


def known_positions(
    admin: AdminClient,
    copies: PositionCopies,
    sink: SinkGroup,
    partitions: Iterable[PartitionId] = (),
    *,
    settled: bool = False,
) -> Positions:
    """The committed offsets of a sink, including those that have expired. Read-only.

    ``partitions`` are those that a lease may just have committed for the first time. ``settled``
    says that their copies were read to the end after fencing. If that is not possible, because
    another sink's commit is not finished, nothing is known about a partition without a committed
    offset: it is treated as not requested.
    """
    wanted = {*partitions, *copies.of(sink)}
    found = groups.committed(admin, sink.group_id, wanted)
    missing = wanted - found.keys()
    lost = missing & copies.of(sink).keys()
    foreign = bool(lost) and copies.outdated()
    if missing and not (settled and not lost) and not copies.catch_up(sink):
        log.warning(HELD_UP, len(missing))
        return _positions(copies, sink, frozenset(found), found, {})
    now = {} if foreign else copies.of(sink)
    expired = _expired(admin, copies, sink, {p: c for p, c in now.items() if p not in found})
    if expired:
        log.warning("the broker has lost %d offsets of group %s", len(expired), sink.group_id)
    return _positions(copies, sink, frozenset(wanted | found.keys()), found, expired)


def _positions(
    copies: PositionCopies,
    sink: SinkGroup,
    asked: frozenset[PartitionId],
    found: Mapping[PartitionId, Committed],
    expired: Mapping[PartitionId, Committed],
) -> Positions:
    known, copied = {**found, **expired}, copies.of(sink)
    ids = {p: copies.topic_id(sink, p) for p, each in known.items() if copied.get(p) == each}
    told = {p: each for p, each in ids.items() if each is not None}
    return Positions(asked, known, told, frozenset(expired))


def _expired(
    admin: AdminClient,
    copies: PositionCopies,
    sink: SinkGroup,
    gone: Mapping[PartitionId, Committed],
) -> dict[PartitionId, Committed]:
    """The copies of missing offsets that are still valid."""
    if not gone:
        return {}
    # Those of a deleted topic are gone with it; the broker would not accept them again.
    known = partitions_of(admin, {topic for topic, _ in gone})
    expired = {(t, p): c for (t, p), c in gone.items() if p < known[t]}
    return _of_present_topics(admin, copies, sink, expired) if expired else {}


def _of_present_topics(
    admin: AdminClient,
    copies: PositionCopies,
    sink: SinkGroup,
    expired: Mapping[PartitionId, Committed],
) -> dict[PartitionId, Committed]:
    """Without those of recreated topics, all of whose records are still to be read."""
    ids = topics.ids(admin, {topic for topic, _ in expired})
    ends = topics.ends(admin, expired, committed=False)
    kept = {}
    for position, (offset, metadata) in expired.items():
        topic, partition = position
        same = copies.topic_id(sink, position) in (None, ids.get(topic))
        if same and offset <= ends.get(position, -1):
            kept[position] = offset, metadata
        else:
            log.warning(MADE_ANEW, topic, partition, offset)
    return kept
