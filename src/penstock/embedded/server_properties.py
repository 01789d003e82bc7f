"""The configuration of a single-node KRaft broker that only this machine can reach."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from penstock.embedded.ports import HOST, Ports

LARGEST_MESSAGE = 64 * 1024 * 1024
SESSION = "broker.session.timeout.ms"

SINGLE_NODE = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "4",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "share.coordinator.state.topic.num.partitions": "4",
    "group.initial.rebalance.delay.ms": "0",
    # No other broker could take over from one that was frozen, on a laptop that slept for example.
    # If the controller took its partitions away meanwhile, Kafka 4.3 would end transactions without
    # writing so into them, and they would hang for ever.
    SESSION: "86400000",
    "auto.create.topics.enable": "true",
    "num.partitions": "1",
    "message.max.bytes": str(LARGEST_MESSAGE),
    "replica.fetch.max.bytes": str(LARGEST_MESSAGE),
}

CONTROLLER_ALONE = {
    "process.roles": "controller",
    SESSION: "1000",
    "broker.heartbeat.interval.ms": "200",
}


def server_properties(log_dir: Path, ports: Ports, extra: Mapping[str, str]) -> dict[str, str]:
    """Return the broker's settings; those in `extra` win."""
    return {
        **SINGLE_NODE,
        "controller.quorum.voters": f"1@{HOST}:{ports.controller}",
        "listeners": f"PLAINTEXT://{HOST}:{ports.broker},CONTROLLER://{HOST}:{ports.controller}",
        "advertised.listeners": f"PLAINTEXT://{HOST}:{ports.broker}",
        "log.dirs": str(log_dir),
        **extra,
    }


def controller_properties(log_dir: Path, port: int) -> dict[str, str]:
    """Return the settings of the node's controller alone, for which a session expires soon."""
    return {
        **SINGLE_NODE,
        **CONTROLLER_ALONE,
        "controller.quorum.voters": f"1@{HOST}:{port}",
        "listeners": f"CONTROLLER://{HOST}:{port}",
        "log.dirs": str(log_dir),
    }


def render(properties: Mapping[str, str]) -> str:
    """Return the text of a Java properties file, in ASCII."""
    return "".join(f"{_escape(key)}={_escape(value)}\n" for key, value in properties.items())


def _escape(text: str) -> str:
    return "".join(map(_escape_character, text))


def _escape_character(character: str) -> str:
    if character in "\\=:#! ":
        return "\\" + character
    if " " < character < "\x7f":
        return character
    # Java reads such a file as Latin-1, and beyond its 16-bit characters as two of them.
    units = character.encode("utf-16-be").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
