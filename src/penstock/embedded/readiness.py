"""Asks a starting broker, as a client does, whether it serves."""

from __future__ import annotations

from confluent_kafka import KafkaException

from penstock.kafka.clients import quiet_admin

ANSWER_SECONDS = 0.5


class Probe:
    """A client that stays quiet about refused connections: they are expected at first."""

    def __init__(self, bootstrap_servers: str) -> None:
        self._admin = quiet_admin(
            {
                "bootstrap.servers": bootstrap_servers,
                "reconnect.backoff.ms": 50,
                "reconnect.backoff.max.ms": 100,
            }
        )

    def answered(self) -> bool:
        """Return whether the broker has itself in its metadata; asks for half a second at most."""
        try:
            return bool(self._admin.list_topics(timeout=ANSWER_SECONDS).brokers)
        except KafkaException:
            return False
