"""Spark's Kafka source, for exact ranges of offsets."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from penstock.engine.lease import SinkLease
from penstock.engine.raw_batches import SELECT
from penstock.kafka.clients import MAX_MESSAGE_BYTES, Connection


def read_ranges(spark: SparkSession, leases: Sequence[SinkLease]) -> DataFrame:
    """One DataFrame with exactly one partition per lease, in the order of ``leases``."""
    frames = [_read(spark, lease) for lease in leases]
    return reduce(DataFrame.union, frames)


def _read(spark: SparkSession, lease: SinkLease) -> DataFrame:
    starts = {position: start for position, (start, _) in lease.ranges.items()}
    ends = {position: end for position, (_, end) in lease.ranges.items()}
    reader = (
        spark.read.format("kafka")
        .options(**kafka_options(lease.connection))
        .option("assign", json.dumps(_by_topic(dict.fromkeys(starts), list)))
        .option("startingOffsets", json.dumps(_by_topic(starts, dict)))
        .option("endingOffsets", json.dumps(_by_topic(ends, dict)))
        .option("includeHeaders", str(_headers_wanted(lease)).lower())
        .option("failOnDataLoss", "true")
    )
    columns = (*SELECT, "headers") if _headers_wanted(lease) else SELECT
    return reader.load().selectExpr(*columns).coalesce(1)


def _headers_wanted(lease: SinkLease) -> bool:
    """Reading headers costs several times the rest of a record."""
    return lease.task_class.wants_headers or bool(lease.tolerance.dead_letter_topic)


def _by_topic(values: Mapping[tuple[str, int], Any], shape: type) -> dict[str, Any]:
    topics: dict[str, Any] = {}
    for (topic, partition), value in values.items():
        if shape is list:
            topics.setdefault(topic, []).append(partition)
        else:
            topics.setdefault(topic, {})[str(partition)] = value
    return topics


def kafka_options(connection: Connection) -> dict[str, str]:
    """Options of Spark's source for this cluster.

    The group id is fixed per set of options: executors then reuse their consumers. The same id
    with other options would make Spark throw an error that prints both sets.
    """
    options = {
        "kafka.bootstrap.servers": connection.bootstrap_servers,
        "kafka.isolation.level": "read_committed",
        "kafka.max.partition.fetch.bytes": str(8 * 1024 * 1024),
        "kafka.fetch.max.bytes": str(MAX_MESSAGE_BYTES),
        "kafka.fetch.max.wait.ms": "100",
        **{f"kafka.{k}": v for k, v in _java_security(connection.security).items()},
    }
    digest = hashlib.sha256(json.dumps(options, sort_keys=True).encode()).hexdigest()[:12]
    return {**options, "kafka.group.id": f"penstock-read-{digest}"}


def _java_security(security: Mapping[str, str]) -> dict[str, str]:
    """librdkafka's names of security settings in Java's."""
    java = {k: v for k, v in security.items() if k in ("security.protocol", "sasl.mechanism")}
    if "sasl.mechanisms" in security:
        java["sasl.mechanism"] = security["sasl.mechanisms"]
    if "sasl.username" in security:
        java["sasl.jaas.config"] = _jaas(security)
    if "ssl.ca.location" in security:
        java |= {
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": security["ssl.ca.location"],
        }
    return java


def _jaas(security: Mapping[str, str]) -> str:
    mechanism = security.get("sasl.mechanisms") or security.get("sasl.mechanism", "PLAIN")
    kind = "scram.ScramLoginModule" if "SCRAM" in mechanism else "plain.PlainLoginModule"
    user, password = (
        json.dumps(security.get(f"sasl.{part}", "")) for part in ("username", "password")
    )
    return f"org.apache.kafka.common.security.{kind} required username={user} password={password};"
