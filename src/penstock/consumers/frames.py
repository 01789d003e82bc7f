"""The unread part of a topic as a DataFrame of Spark's."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Self

from penstock.consumers.consumer import brokers
from penstock.consumers.errors import ConsumerError, Fenced, naming_brokers
from penstock.consumers.holding.keeper import Keeper
from penstock.consumers.offset import BEGINNING, Offset, chosen_offset
from penstock.consumers.options import Gone, Options, Strategy, chosen, seconds
from penstock.consumers.reading.progress import Offsets
from penstock.consumers.reading.starting import Ranges
from penstock.consumers.topic import find_topic
from penstock.kafka import clients
from penstock.kafka.clients import Connection
from penstock.kafka.errors import KafkaFault
from penstock.kafka.range_reader import Range

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

log = logging.getLogger(__name__)


class Unread:
    """What lies between the place of a named consumer and the end of the topic.

    Holds the name until it is closed, as any consumer does. The range is fixed: however often the
    frame is read, it is the same records.
    """

    def __init__(self, spark: SparkSession, options: Options, connection: Connection) -> None:
        admin = clients.admin(connection)
        topic = find_topic(admin, options.topic, options.partitions)
        self._closed = threading.Event()
        self._storing = threading.Lock()
        self._keeper = Keeper(options, connection, admin, topic)
        self._keeper.hold()
        try:
            ranges = Ranges(connection, admin, topic)
            self.starts: Offsets = self._keeper.starts(ranges)
            self.ends: Offsets = {p: max(ranges.end[p], self.starts[p]) for p in self.starts}
            self._stands = self.starts
            self._keeper.register(self.starts)
            self.frame: DataFrame = self._read(spark, options.topic, connection)
        except BaseException:
            self._keeper.release(leave=True)
            raise
        threading.Thread(target=self._be_seen, name="seen", daemon=True).start()

    def _be_seen(self) -> None:
        """Say now and then that the name is in use, however long the frame is worked on."""
        while not (self._closed.wait(self._keeper.every) or self._keeper.fenced):
            with self._storing:
                if not self._closed.is_set():
                    self._say_where()

    def _say_where(self) -> None:
        try:
            self._keeper.store(self._stands)
            self._keeper.raise_failure()
        except (KafkaFault, ConsumerError) as error:
            log.debug("consumer %s: %s; trying again", self._keeper.name, error)

    def _read(self, spark: SparkSession, topic: str, connection: Connection) -> DataFrame:
        from penstock.engine.frames.topic_frame import range_frame

        ends = sorted(self.ends.items())
        return range_frame(
            spark, connection, [Range(topic, p, self.starts[p], end) for p, end in ends]
        )

    @property
    def count(self) -> int:
        """How many offsets lie in the range; markers of transactions are among them."""
        return sum(end - self.starts[p] for p, end in self.ends.items())

    def commit(self) -> None:
        """All of the range is done: return when that is stored. Fenced if another took over."""
        if self._closed.is_set():
            raise ConsumerError("this range is closed: ask for it again to commit it")
        if self._keeper.fenced:
            raise Fenced.of(self._keeper.name)
        with self._storing:
            self._keeper.store(self.ends)
            self._stands = self.ends
            self._keeper.flush()

    def close(self) -> None:
        """Let go of the name; what was not committed is unread the next time."""
        if self._closed.is_set():
            return
        self._closed.set()
        with self._storing:
            try:
                if not self._keeper.fenced:
                    self._keeper.store(self._stands, released=True)
                    self._keeper.flush()
            finally:
                self._keeper.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def dataframe(
    spark: SparkSession,
    topic: str,
    consumer: str,
    *,
    start: Offset | str = BEGINNING,
    reset: Offset | str | None = None,
    when_gone: str | Gone = Gone.FAIL,
    ttl: float | timedelta | None = None,
    take_over: bool = False,
    bootstrap_servers: str | None = None,
    security: Mapping[str, str] | None = None,
) -> Unread:
    """What ``consumer`` has not read of a topic: ``unread.frame`` has the columns of Spark's Kafka
    source but ``timestampType``, and ``unread.commit()`` says that it is done. To be closed, or
    used with ``with``."""
    options = Options(
        topic=topic,
        name=consumer,
        start=chosen_offset(start, "start"),
        reset=None if reset is None else chosen_offset(reset, "reset"),
        strategy=Strategy.MANUAL,
        when_gone=chosen(Gone, when_gone, "when_gone"),
        ttl=None if ttl is None else seconds(ttl),
        take_over=take_over,
    )
    connection = Connection(brokers(bootstrap_servers), dict(security or {}))
    with naming_brokers(connection.bootstrap_servers):
        return Unread(spark, options, connection)
