"""Names that a take-over from Kafka Connect depends on."""

from __future__ import annotations

from penstock.kafka.names import (
    client_id,
    leader_transactional_id,
    sink_group,
    transactional_id,
    worker_topic,
)


def test_names_are_kafka_connects() -> None:
    assert transactional_id("cluster", "my-source", 3) == "cluster-my-source-3"
    assert leader_transactional_id("cluster") == "connect-cluster-cluster"
    assert sink_group("my-sink") == "connect-my-sink"
    assert client_id("producer", "my-source", 0) == "connector-producer-my-source-0"
    assert client_id("consumer", "my-sink", 1) == "connector-consumer-my-sink-1"


def test_the_workers_topic_belongs_to_its_cluster() -> None:
    assert worker_topic("a") == "a-workers"
    assert worker_topic("a") != worker_topic("b")
