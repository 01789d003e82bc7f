"""Words of the resources: Strimzi's, because its users know them."""

from __future__ import annotations

GROUP = "kafka.strimzi.io"
STORED = "v1beta2"
VERSIONS = (STORED, "v1")
API_VERSION = f"{GROUP}/{STORED}"

CONNECTOR = "KafkaConnector"
OFFSETS = "KafkaConnectorOffsets"
CONNECT = "KafkaConnect"
PLURALS = {
    CONNECTOR: "kafkaconnectors",
    OFFSETS: "kafkaconnectoroffsets",
    CONNECT: "kafkaconnects",
}

CLUSTER_LABEL = "strimzi.io/cluster"
PAUSE = "strimzi.io/pause-reconciliation"
USE_RESOURCES = "strimzi.io/use-connector-resources"
RESTART = "strimzi.io/restart"
RESTART_TASK = "strimzi.io/restart-task"
RESET = "strimzi.io/offsets-reset"
CONNECTOR_OFFSETS = "strimzi.io/connector-offsets"

FINALIZER = "penstock.io/connector"
"""Holds a deleted KafkaConnector until its connector is gone."""
