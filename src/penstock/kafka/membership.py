"""The worker's membership in its cluster.

Workers of one ``group.id`` subscribe to a one-partition topic; the owner of the partition leads.
The membership's generation travels with every transaction, so that the broker itself refuses a
worker that was frozen for longer than its session and then thaws.

Life: ``start`` joins; ``on_joined(standing)`` is called when this worker has joined, and again
after every rebalance it survives, with what it is known by from then on; ``on_elected()`` when it
becomes the leader, after that; ``on_deposed()`` when it no longer is. All are called on the
membership's own thread and must return quickly.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from confluent_kafka import Consumer

from penstock.kafka.clients import Connection, log

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Joined:
    """How the group knows a member since the last rebalance."""

    member_id: str
    metadata: bytes
    """Goes into transactions: the broker then refuses them once it is out of date."""


class Membership:
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
        """``timings`` are settings of the client: how the group notices who is there."""
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
        consumer = Consumer(self._settings, logger=log)
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
        except Exception:  # whatever it is, a worker that polls no more is lost to its group
            logger.exception("worker group: polling failed; trying again")
            time.sleep(1)

    def _announce(self, consumer: Consumer) -> None:
        """Tell of a new generation also when the assignment stayed what it was."""
        if not self.joined:
            return
        # librdkafka knows no member id before it has joined, and none once it was thrown out.
        joined = Joined(consumer.memberid() or "", bytes(consumer.consumer_group_metadata()))
        if joined.member_id and joined != self._announced:
            self._announced = joined
            self._on_joined(joined)
        if self.owner and not self._elected:
            self._elected = True
            self._on_elected()

    def _assigned(self, _: Consumer, partitions: list[Any]) -> None:
        # The incremental protocol reports only what is new: an empty list takes nothing away.
        self.joined = True
        self.owner = self.owner or bool(partitions)

    def _revoked(self, _: Consumer, partitions: list[Any]) -> None:
        if self.owner and partitions:
            self.owner = self._elected = False
            self._on_deposed()
