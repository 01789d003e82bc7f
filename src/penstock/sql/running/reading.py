"""Ranges of a topic as frames of Spark's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from confluent_kafka.admin import AdminClient

from penstock.consumers.java_settings import java_settings
from penstock.kafka import topics
from penstock.kafka.clients import Connection
from penstock.sql.errors import StatementError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Offsets = dict[int, int]


def beginnings(admin: AdminClient, topic: str) -> Offsets:
    """Where each partition begins."""
    partitions = _partitions(admin, topic)
    found = topics.beginnings(admin, partitions)
    return {p: found.get((name, p), 0) for name, p in partitions}


def ends(admin: AdminClient, topic: str) -> Offsets:
    """Where what is committed ends in each partition."""
    partitions = _partitions(admin, topic)
    found = topics.ends(admin, partitions, committed=True)
    return {p: found.get((name, p), 0) for name, p in partitions}


def _partitions(admin: AdminClient, topic: str) -> list[tuple[str, int]]:
    count = topics.partitions_of(admin, [topic])[topic]
    if not count:
        raise StatementError(f"Topic {topic} does not exist.")
    return [(topic, partition) for partition in range(count)]


def frame(
    spark: SparkSession,
    connection: Connection,
    topic: str,
    starts: Mapping[int, int],
    stops: Mapping[int, int],
) -> DataFrame:
    """The records of a range, which is fixed: it is the same however often it is read."""
    settings = {f"kafka.{key}": value for key, value in java_settings(connection).items()}
    return (
        spark.read.format("kafka")
        .options(
            **settings,
            assign=json.dumps({topic: sorted(stops)}),
            startingOffsets=_text(topic, {p: min(starts.get(p, 0), stops[p]) for p in stops}),
            endingOffsets=_text(topic, stops),
            includeHeaders="true",
            failOnDataLoss="true",
        )
        .load()
    )


def _text(topic: str, offsets: Mapping[int, int]) -> str:
    return json.dumps({topic: {str(partition): offset for partition, offset in offsets.items()}})
