"""Real Kafka Connect, distributed mode, started as its own script starts it."""

from __future__ import annotations

from pathlib import Path

from bench.rest_worker import RestWorker
from penstock.embedded import Java
from penstock.embedded.kafka_command import LOGGING
from penstock.embedded.ports import free_port
from penstock.embedded.server_properties import render

LABEL = "kafka connect"
MAIN_CLASS = "org.apache.kafka.connect.cli.ConnectDistributed"
STRING_CONVERTER = "org.apache.kafka.connect.storage.StringConverter"
# As in connect-distributed.sh and kafka-run-class.sh, but with the heap of our Spark driver.
JVM_OPTIONS = (
    "-Xms256m",
    "-Xmx1g",
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
)


def start_kafka_connect(
    folder: Path,
    name: str,
    bootstrap_servers: str,
    java: Java,
    class_path: str,
    **more: str,
) -> RestWorker:
    """Start a worker whose group and topics are called ``name``; ``more`` are further settings,
    in whose names an underscore stands for a dot."""
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    further = {key.replace("_", "."): value for key, value in more.items()}
    properties = folder / "worker.properties"
    properties.write_text(
        render({**_properties(name, bootstrap_servers, port), **further}), encoding="ascii"
    )
    command = [str(java.path), *JVM_OPTIONS, *LOGGING, "-cp", class_path, MAIN_CLASS]
    return RestWorker(LABEL, [*command, str(properties)], port, folder / "connect.log")


def _properties(name: str, bootstrap_servers: str, port: int) -> dict[str, str]:
    storage = ("config", "offset", "status")
    return {
        "bootstrap.servers": bootstrap_servers,
        "group.id": name,
        "listeners": f"http://127.0.0.1:{port}",
        "key.converter": STRING_CONVERTER,
        "value.converter": STRING_CONVERTER,
        **{f"{kind}.storage.topic": f"{name}-{kind}s" for kind in storage},
        **{f"{kind}.storage.replication.factor": "1" for kind in storage},
        # The quicker of its ways to find plugins; the default also scans every class.
        "plugin.discovery": "service_load",
    }
