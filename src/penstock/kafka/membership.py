"""The worker's membership in its cluster.

Workers of one ``group.id`` subscribe to a one-partition topic; the owner of the partition is the
leader. The member's generation is part of every transaction, so the broker itself rejects a
worker that was frozen for longer than its session and then thaws.

Life: ``start`` joins; ``on_joined(standing)`` is called when this worker has joined, and again
after every rebalance it survives, with its new member id and generation; then ``on_elected()`` if
it became the leader; ``on_deposed()`` when it no longer is. All are called on the membership's own
thread and must return quickly.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from confluent_kafka import Consumer

from penstock.kafka.clients import Connection, group_consumer

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Joined:
    """A member's id and generation since the last rebalance."""

    member_id: str
    metadata: bytes
    """Part of every transaction: the broker rejects the transaction if this is out of date."""


class GroupMember:
    """One member of the worker group. Thread-safe."""

    def __init__(
        self,
        connection: Connection,
        group_id: str,
        topic: str,
        *,
        on_joined: Callable[[Joined], None],
        on_elected: Callable[[], None],
        on_deposed: Callable[[], None],
        timings: Mapping[str, int],
    ) -> None:
        """``timings`` are the client's settings for sessions and heartbeats."""
        self._topic = topic
        self._on_joined = on_joined
        self._on_elected = on_elected
        self._on_deposed = on_deposed
        self.joined = False
        self.owner = False
        self._announced: Joined | None = None
        self._elected = False
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._settings: dict[str, Any] = {
            **connection.settings(),
            "group.id": group_id,
            "group.protocol": "classic",
            **timings,
            "enable.auto.commit": False,
            "auto.offset.reset": "latest",
            "partition.assignment.strategy": "cooperative-sticky",
            "allow.auto.create.topics": False,
        }

    def start(self) -> None:
        """Join the group."""
        self._thread = threading.Thread(target=self._run, name="membership", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Leave the group; may be called twice."""
        self._stopping.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout=5)

    def _run(self) -> None:
        consumer = group_consumer(self._settings)
        consumer.subscribe(
            [self._topic],
            on_assign=self._assigned,
            on_revoke=self._revoked,
            on_lost=self._revoked,
        )
        try:
            while not self._stopping.is_set():
                self._step(consumer)
        finally:
            consumer.close()

    def _step(self, consumer: Consumer) -> None:
        try:
            message = consumer.poll(0.2)
            if message is not None and (error := message.error()) is not None:
                logger.debug("worker group: %s", error.str())
            self._announce(consumer)
        except Exception:  # a worker that stops polling is removed from its group
            logger.exception("worker group: polling failed; trying again")
            time.sleep(1)

    def _announce(self, consumer: Consumer) -> None:
        """Report a new generation even if the assignment did not change.

        Again, if that raises: without it a worker would commit in an earlier generation for ever.
        """
        if not self.joined:
            return
        # librdkafka has no member id before it has joined, nor after it was removed.
        joined = Joined(consumer.memberid() or "", bytes(consumer.consumer_group_metadata()))
        if joined.member_id and joined != self._announced:
            self._on_joined(joined)
            self._announced = joined
        if self.owner and not self._elected:
            self._on_elected()
            self._elected = True

    def _assigned(self, _: Consumer, partitions: list[Any]) -> None:
        # The incremental protocol reports only changes: an empty list revokes nothing.
        self.joined = True
        self.owner = self.owner or _leading(partitions)

    def _revoked(self, _: Consumer, partitions: list[Any]) -> None:
        if self.owner and _leading(partitions):
            self.owner = self._elected = False
            self._on_deposed()


def _leading(partitions: list[Any]) -> bool:
    """Whether they include the leader's partition: the first, if the topic has several."""
    return any(each.partition == 0 for each in partitions)
