"""Beginning and end offsets, requested so that a bad partition affects only its own answer.

A partition without a leader, or one that an ACL forbids, answers with an error. One whose leader is
down does not answer at all, and the client then withholds the answers for all others until the
request times out: so callers use short timeouts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field

from confluent_kafka import OFFSET_INVALID, IsolationLevel, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, ListOffsetsResultInfo, OffsetSpec

from penstock.kafka.errors import AccessDenied, BrokerUnavailable, KafkaFault, describe, is_denied
from penstock.kafka.topics import GONE, PartitionId

PATIENCE = 3.0
LATE = 5.0
"""How long the client may take to report its own timeout: a thawed process sees both at once."""

Asked = dict[PartitionId, "Future[ListOffsetsResultInfo]"]


@dataclass(frozen=True)
class Answers:
    """Offsets and errors by partition. Missing partitions are in neither."""

    offsets: Mapping[PartitionId, int] = field(default_factory=dict)
    faults: Mapping[PartitionId, KafkaFault] = field(default_factory=dict)


def ask(
    client: AdminClient,
    partitions: Iterable[PartitionId],
    spec: OffsetSpec,
    *,
    committed: bool = False,
    seconds: float = PATIENCE,
) -> Asked:
    """Ask without waiting; with ``committed``, records of open transactions are left out."""
    level = IsolationLevel.READ_COMMITTED if committed else IsolationLevel.READ_UNCOMMITTED
    wanted = {TopicPartition(topic, partition): spec for topic, partition in partitions}
    if not wanted:
        return {}
    futures = client.list_offsets(wanted, isolation_level=level, request_timeout=seconds)
    return {(tp.topic, tp.partition): future for tp, future in futures.items()}


def beginnings(client: AdminClient, partitions: Iterable[PartitionId]) -> Answers:
    """The first offsets that partitions still hold."""
    return answers(ask(client, partitions, OffsetSpec.earliest()))


def ends(client: AdminClient, partitions: Iterable[PartitionId], *, committed: bool) -> Answers:
    """Last stable offsets if ``committed``, else high watermarks."""
    return answers(ask(client, partitions, OffsetSpec.latest(), committed=committed))


def answers(asked: Asked, seconds: float = PATIENCE) -> Answers:
    """Wait for requests that were made with this many seconds of patience."""
    found = {p: _answer(p, future, seconds + LATE) for p, future in asked.items()}
    return Answers(
        {p: said for p, said in found.items() if isinstance(said, int)},
        {p: said for p, said in found.items() if isinstance(said, KafkaFault)},
    )


def _answer(
    position: PartitionId, future: Future[ListOffsetsResultInfo], seconds: float
) -> int | KafkaFault | None:
    topic, partition = position
    silence = BrokerUnavailable(f"no broker has answered about {topic}-{partition}")
    try:
        offset = int(future.result(seconds).offset)
    except KafkaException as error:
        if is_denied(error):
            return AccessDenied(f"see topic {topic}", error)
        return None if error.args[0].code() in GONE else BrokerUnavailable(describe(error))
    except TimeoutError:
        return silence
    # The client's error for a partition whose leader it could not reach in time.
    return silence if offset == OFFSET_INVALID else offset
