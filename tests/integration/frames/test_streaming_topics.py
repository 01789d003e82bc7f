"""Streams of topics and of named consumers, by ``format("penstock")``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from penstock.consumers import Consumer, NameHeld
from penstock.consumers.directory import Directory
from penstock.embedded import EmbeddedBroker
from penstock.kafka.clients import Connection
from topics import Topics
from waiting import eventually

pytestmark = pytest.mark.heavy


class Stream:
    """A query over a topic that notes the numbers of each batch, with a checkpoint."""

    def __init__(self, spark: SparkSession, options: dict[str, str], folder: Path) -> None:
        self._spark = spark
        self._options = options
        self._folder = folder
        self.batches: list[list[int]] = []

    @property
    def numbers(self) -> list[int]:
        return [number for batch in self.batches for number in batch]

    def start(self, **trigger: Any) -> StreamingQuery:
        frame = self._spark.readStream.format("penstock").options(**self._options).load()
        writer = frame.writeStream.foreachBatch(self._note)
        if trigger:
            writer = writer.trigger(**trigger)
        return writer.option("checkpointLocation", str(self._folder)).start()

    def run(self) -> None:
        """All that there is."""
        query = self.start(availableNow=True)
        query.awaitTermination(300)

    def _note(self, batch: DataFrame, _: int) -> None:
        rows = batch.select("value").collect()
        self.batches.append(sorted(int(bytes(row.value)) for row in rows))


@pytest.fixture
def stream(
    spark: SparkSession, broker: EmbeddedBroker, topic: str, tmp_path: Path
) -> Callable[..., Stream]:
    def make(**options: str) -> Stream:
        given = {"kafka.bootstrap.servers": broker.bootstrap_servers, "topic": topic, **options}
        return Stream(spark, given, tmp_path / "checkpoint")

    return make


def test_a_stream_goes_on_where_its_checkpoint_stands(
    stream: Callable[..., Stream], topics: Topics, topic: str
) -> None:
    first = stream()
    first.run()
    assert sorted(first.numbers) == [*range(6), *range(100, 104)]
    topics.produce(topic, [b"6"])
    topics.grow(topic, 3)
    topics.produce(topic, [b"200"], partition=2)
    second = stream()
    second.run()
    assert sorted(second.numbers) == [6, 200], "a partition that was added, from its beginning"


def test_a_stream_under_a_name_holds_and_moves_it(
    stream: Callable[..., Stream], topics: Topics, topic: str, connection: Connection
) -> None:
    name = f"of-{topic}"
    brokers: dict[str, Any] = {"bootstrap_servers": connection.bootstrap_servers}
    with Consumer(topic, name=name, **brokers) as consumer:
        read = sorted(int(next(consumer).text or "") for _ in range(3))
    found = stream(consumer=name)
    query = found.start()
    try:
        every = [*range(6), *range(100, 104)]
        eventually(lambda: sorted(found.numbers + read) == every, within=120, what="all of it")
        with pytest.raises(NameHeld):
            Consumer(topic, name=name, **brokers).open()
        topics.produce(topic, [b"6"])
        eventually(lambda: 6 in found.numbers, within=120, what="the next batch")
        # Spark says that a batch is done when it begins the next one, which is of these two.
        eventually(lambda: _stands(connection, name)[1] >= 5, within=60, what="the name's place")
    finally:
        query.stop()
    eventually(lambda: _free(topic, name, brokers), within=60, every=0.5, what="a free name")


def _stands(connection: Connection, name: str) -> dict[int, int]:
    listed = Directory(connection).listed()
    return {each.key.partition: each.offset for each in listed if each.key.name == name}


def _free(topic: str, name: str, brokers: dict[str, Any]) -> bool:
    try:
        with Consumer(topic, name=name, **brokers):
            return True
    except NameHeld:
        return False


def test_a_topic_that_was_made_anew_is_refused(
    stream: Callable[..., Stream], topics: Topics, topic: str
) -> None:
    stream().run()
    topics.delete(topic)
    topics.create(topic, 2)
    with pytest.raises(StreamingQueryException, match="was deleted and created again"):
        stream().run()


def test_a_connector_cannot_be_streamed(spark: SparkSession) -> None:
    reader = spark.readStream.format("penstock").schema("value string").option("config", "{}")
    with pytest.raises(StreamingQueryException, match="a connector can be read as a batch only"):
        reader.load().writeStream.format("noop").start().awaitTermination(60)
