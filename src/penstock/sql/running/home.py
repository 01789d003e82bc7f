"""What statements run on; each part is started by the first statement that needs it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from functools import cached_property
from typing import TYPE_CHECKING

from penstock.sdk.errors import PenstockError
from penstock.sql.avro.registry import NO_REGISTRY, SqlRegistry
from penstock.sql.connecting.connect_api import Connect
from penstock.sql.connecting.patience import patient
from penstock.sql.errors import StatementError
from penstock.sql.planning.spark_settings import own_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.kafka.clients import Connection
    from penstock.sql.catalog.store import Catalog

CATALOG_TOPIC = "penstock-sql-catalog"


class Home:
    """Kafka Connect, the brokers and Spark. Thread-safe; close it.

    ``connect`` and ``connection`` raise UserError where no worker or no brokers are known,
    ``spark`` ModuleNotFoundError where PySpark is not installed: no statement needs all three.
    """

    def __init__(
        self,
        connect: Callable[[], Connect],
        connection: Callable[[], Connection],
        spark: Callable[[], SparkSession],
        catalog_topic: str = CATALOG_TOPIC,
        closed: Callable[[], Collection[str]] = tuple,
        *,
        registry: SqlRegistry = NO_REGISTRY,
    ) -> None:
        """``closed`` are topics that no statement may touch: those of a worker hold secrets."""
        self.registry = registry
        self._connect = connect
        self.connection = connection
        self._spark = spark
        self._topic = catalog_topic
        self._closed = closed
        self.running: dict[str, str] = {}
        """Queries of changes that clients listen to: statements by their ids."""
        self._lock = threading.Lock()
        self._catalog: Catalog | None = None

    @cached_property
    def connect(self) -> Connect:
        """Kafka Connect."""
        return patient(self._connect())

    def known_catalog(self) -> Catalog | None:
        """The catalog if there is one: what only looks does not create it."""
        from penstock.kafka import clients, topics

        try:
            if self._catalog is None:
                admin = clients.admin(self.connection())
                if not topics.partitions_of(admin, [self._topic])[self._topic]:
                    return None
            return self.catalog
        except PenstockError:  # no brokers are known, or none answer: there are connectors only
            return None

    @property
    def catalog(self) -> Catalog:
        """The streams and tables."""
        from penstock.sql.catalog.store import Catalog

        with self._lock:
            if self._catalog is None:
                self._catalog = Catalog(self.connection(), self._topic)
            return self._catalog

    def refuse_closed(self, topic: str) -> None:
        """StatementError for a topic that no statement may touch."""
        closed = self._closed()
        if closed and topic in {*closed, self._topic}:
            raise StatementError(
                f"Topic {topic} is one of the worker's own, which may hold secrets: "
                "over this API there is no SQL over it."
            )

    def spark(self) -> SparkSession:
        """A Spark session for one query, with views of its own."""
        return own_session(self._spark())

    def close(self) -> None:
        """End what it has started; Spark belongs to its caller."""
        with self._lock:
            if self._catalog is not None:
                self._catalog.close()
                self._catalog = None
