"""Checks brokers that clients report as unreachable: which are down, and when they are back.

While a broker comes back, all clients are reminded of it: one that asks too early hears that the
cluster has no brokers, and would never connect again.
"""

from __future__ import annotations

import logging
import socket
import threading

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from penstock.kafka.client_life import remind_clients
from penstock.kafka.outages import Outages, outages

log = logging.getLogger(__name__)

EVERY_SECONDS = 1.0
PATIENCE_SECONDS = 2.0


class OutageWatch:
    """A thread that sleeps until a client reports an unreachable broker."""

    def __init__(self, admin: AdminClient, servers: str, known: Outages = outages) -> None:
        """``servers`` are the bootstrap servers: complaints that name no broker mean the first."""
        self._admin = admin
        self._servers = [server.strip() for server in servers.split(",")]
        self._known = known
        self._listed: set[str] = set()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="outages", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._known.watched, self._known.usual = True, self._servers[0]
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread; outages are no longer reported."""
        self._stopping.set()
        self._known.suspected.set()
        self._thread.join(2 * PATIENCE_SECONDS)
        self._known.suspected.clear()

    def _run(self) -> None:
        while self._known.suspected.wait() and not self._stopping.is_set():
            try:
                self.look()
            except Exception:
                log.exception("checking the brokers failed; trying again")
            self._stopping.wait(EVERY_SECONDS)

    def look(self) -> None:
        """Check, once, every broker that a client reported."""
        listed = self._list()
        if listed is None and any(map(_accepts, self._servers)):  # all may have moved elsewhere
            remind_clients()
        for broker in self._known.brokers():
            if accepts := _accepts(broker):
                remind_clients()
            if accepts and listed is not None and not self._has_left(broker, listed):
                told = self._known.answered(broker)
            else:
                told = self._known.silent(broker)
            if told is not None:
                log.warning("%s", told)

    def _list(self) -> set[str] | None:
        """The brokers that the cluster has now; None if none answers."""
        try:
            found = self._admin.list_topics(timeout=PATIENCE_SECONDS).brokers.values()
        except KafkaException:
            return None
        listed = {f"{broker.host}:{broker.port}" for broker in found}
        self._listed |= listed
        return listed

    def _has_left(self, broker: str, listed: set[str]) -> bool:
        """Whether the cluster had it once and does not list it now.

        What stands for a broker in ``bootstrap.servers`` is never listed.
        """
        return broker not in listed and broker in self._listed


def _accepts(broker: str) -> bool:
    """Whether something accepts connections at that address."""
    host, _, port = broker.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), PATIENCE_SECONDS).close()
    except (OSError, ValueError):
        return False
    return True
