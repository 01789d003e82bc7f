"""Client settings in one place, and the clients themselves.

Connection settings (bootstrap servers, security) come from the worker's configuration under
librdkafka's names, which for everything a worker sets are Kafka's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, ClusterMetadata

from penstock.kafka import librdkafka
from penstock.kafka.client_life import OwnedAdmin, OwnedConsumer, OwnedProducer
from penstock.kafka.client_log import log
from penstock.kafka.offset_fetcher import OffsetFetcher
from penstock.kafka.tls_context import tls_context
from penstock.sdk.errors import ConfigError

MAX_MESSAGE_BYTES = 64 * 1024 * 1024
TRANSACTION_TIMEOUT_MS = 60_000
FEW = 6
KEEPS_BROKERS: dict[str, Any] = {"metadata.recovery.strategy": "none"}
"""For clients that do not fetch records. Otherwise a client drops its brokers whenever all its
connections break at once, and with them the requests that wait for an answer: a commit then takes
many seconds more. Where brokers have moved to other addresses, ``OutageWatch`` reminds clients of
their bootstrap servers. Not for consumers: one that fetches from a broker which has just restarted,
and knows no leaders yet, reads beyond an array and may crash (librdkafka issue 5280)."""
KAFKA_PYTHON = {
    "sasl.mechanism": "sasl_mechanism",
    "sasl.mechanisms": "sasl_mechanism",
    "sasl.username": "sasl_plain_username",
    "sasl.password": "sasl_plain_password",
}
"""Authentication settings: librdkafka's names, and kafka-python's."""


@dataclass(frozen=True)
class Connection:
    """How to reach the cluster. Travels to Spark's Python workers inside a lease."""

    bootstrap_servers: str
    security: Mapping[str, str] = field(default_factory=dict)
    few_brokers: bool = False
    """Clients then connect to all brokers at once: a producer is ready for transactions in a few
    milliseconds, where it otherwise takes 50 to 500 to find its coordinator."""
    reading_as: str = "penstock-reader"
    """The ``group.id`` of readers. They never join the group, but need permission to see it."""

    def settings(self) -> dict[str, Any]:
        """The settings every client shares."""
        return {
            "bootstrap.servers": self.bootstrap_servers,
            "log.connection.close": False,
            # With a longer one clients would hardly be connected over a link that often breaks.
            "reconnect.backoff.max.ms": 500,
            "socket.keepalive.enable": True,
            "enable.sparse.connections": not self.few_brokers,
            **self.security,
        }

    def kafka_python_settings(self) -> dict[str, Any]:
        """The same for a client of kafka-python; ConfigError names what it does not support."""
        known: dict[str, Any] = {
            KAFKA_PYTHON[k]: v for k, v in self.security.items() if k in KAFKA_PYTHON
        }
        if known.get("sasl_mechanism") == "OAUTHBEARER":
            raise ConfigError(
                "sasl.mechanism OAUTHBEARER cannot be used for this: log in with PLAIN or SCRAM",
                key="sasl.mechanism",
            )
        if protocol := self.security.get("security.protocol", "").upper():
            known["security_protocol"] = protocol
        if protocol.endswith("SSL"):
            known["ssl_context"] = tls_context(self.security)
        return {"bootstrap_servers": self.bootstrap_servers.split(","), **known}

    def secrets(self) -> list[str]:
        """Values that must never be printed."""
        return secret_values(self.security)


SECRET_MARKS = ("password", "jaas", "secret", "token", "key.pem", "keystore.key")


def secret_values(settings: Mapping[str, str]) -> list[str]:
    """The settings among these that must never be printed."""
    return [v for k, v in settings.items() if any(mark in k.lower() for mark in SECRET_MARKS)]


class GroupAdmin(OwnedAdmin):
    """An admin client whose requests to group coordinators survive a broker restart.

    librdkafka's client may keep waiting for the old coordinator after the broker came back, so
    these requests have a separate client, which is replaced after an unanswered request.
    """

    def __init__(self, connection: Connection, **settings: Any) -> None:
        self._settings = {**connection.settings(), **KEEPS_BROKERS, **settings}
        super().__init__(self._settings, logger=log)
        self._coordinators: AdminClient | None = None
        self._offsets: OffsetFetcher | None = None
        self._reading = {**reader_settings(connection), **KEEPS_BROKERS}

    def coordinators(self) -> AdminClient:
        """The client for requests to coordinators."""
        found = self._coordinators or OwnedAdmin(self._settings, logger=log)
        self._coordinators = found
        return found

    def offsets(self) -> OffsetFetcher | None:
        """The client that fetches committed offsets; None where ``coordinators`` has to."""
        if self._offsets is None and librdkafka.available():
            self._offsets = OffsetFetcher(self._reading)
        return self._offsets

    @contextmanager
    def while_wanted(self) -> Iterator[AdminClient]:
        """A client for a request that changes something, which ends with this: what is still to
        be sent then, because no broker could be reached say, is never sent."""
        client = OwnedAdmin(self._settings, logger=log)
        try:
            yield client
        finally:
            client.end()
            client.ended()

    def forget_coordinators(self, used: object = None) -> None:
        """A request to a coordinator was not answered: replace the client ``used``.

        The old client is destroyed once no thread waits for one of its responses.
        """
        if used is None or used is self._coordinators:
            self._coordinators = None
        if used is None or used is self._offsets:
            self._offsets = None


def admin(connection: Connection, **settings: Any) -> GroupAdmin:
    """An admin client; cheap to keep, thread-safe."""
    return GroupAdmin(connection, **settings)


def few_brokers(cluster: ClusterMetadata) -> bool:
    """Whether the cluster is small enough for clients to connect to all brokers."""
    return len(cluster.brokers) <= FEW


def producer(connection: Connection, **settings: Any) -> Producer:
    """An idempotent producer that partitions as Java clients do."""
    return OwnedProducer(
        {
            **connection.settings(),
            **KEEPS_BROKERS,
            "enable.idempotence": True,
            # librdkafka's default would put keys on different partitions than Java clients do.
            "partitioner": "murmur2_random",
            "message.max.bytes": MAX_MESSAGE_BYTES,
            "queue.buffering.max.messages": 1_000_000,
            "queue.buffering.max.kbytes": 128 * 1024,
            "linger.ms": 5,
            "batch.size": 1_000_000,
            **settings,
        },
        logger=log,
    )


def transactional_producer(
    connection: Connection, transactional_id: str, **settings: Any
) -> Producer:
    """A producer for transactions.

    Only failures are reported per record: a successful commit means that all were delivered.
    """
    return producer(
        connection,
        **{
            "transactional.id": transactional_id,
            "transaction.timeout.ms": TRANSACTION_TIMEOUT_MS,
            "delivery.report.only.error": True,
            **settings,
        },
    )


def reader(
    connection: Connection,
    *,
    committed: bool = True,
    group: str | None = None,
    **settings: Any,
) -> Consumer:
    """A consumer for ``assign``: it joins no group, stores no offsets, reports partition ends."""
    all_settings = reader_settings(connection, committed=committed, group=group, **settings)
    return OwnedConsumer(all_settings, logger=log)


def group_consumer(settings: Mapping[str, Any]) -> Consumer:
    """A consumer for ``subscribe``, with exactly these settings."""
    return OwnedConsumer(settings, logger=log)


def quiet_admin(settings: Mapping[str, Any]) -> AdminClient:
    """An admin client that logs nothing, for checking whether there is a broker at all."""
    return OwnedAdmin({**settings, "log_level": 0}, logger=log)


def reader_settings(
    connection: Connection,
    *,
    committed: bool = True,
    group: str | None = None,
    **settings: Any,
) -> dict[str, Any]:
    """The settings of such a consumer."""
    return {
        **connection.settings(),
        "group.id": group or connection.reading_as,
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "enable.partition.eof": True,
        "auto.offset.reset": "earliest",
        "isolation.level": "read_committed" if committed else "read_uncommitted",
        "fetch.wait.max.ms": 100,
        "fetch.message.max.bytes": MAX_MESSAGE_BYTES,
        "fetch.max.bytes": MAX_MESSAGE_BYTES,
        "receive.message.max.bytes": MAX_MESSAGE_BYTES + 1024 * 1024,
        **settings,
    }


def group_metadata(connection: Connection, group: str) -> bytes:
    """Metadata for offset commits to ``group`` from outside the group."""
    consumer = reader(connection, group=group)
    try:
        return bytes(consumer.consumer_group_metadata())
    finally:
        consumer.close()
