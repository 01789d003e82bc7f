"""Checks a cluster from outside: which brokers answer, or why none does. Read-only."""

from __future__ import annotations

import re
import socket
import time
from dataclasses import dataclass

from confluent_kafka import KafkaError, KafkaException

from penstock.kafka.clients import Connection, quiet_admin

POLL_SECONDS = 0.05


@dataclass(frozen=True)
class Broker:
    """A broker, and the address that it advertises."""

    id: int
    host: str
    port: int

    def opens(self, seconds: float) -> bool:
        """Whether a connection to it can be made within ``seconds``."""
        try:
            socket.create_connection((self.host, self.port), timeout=seconds).close()
        except OSError:
            return False
        return True


@dataclass(frozen=True)
class ClusterLook:
    """What a cluster reports about itself."""

    cluster_id: str
    brokers: tuple[Broker, ...]


class Unreachable(Exception):  # noqa: N818 - named for the state
    """No broker answered; ``code`` is librdkafka's error code, the text has the details."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


def look(connection: Connection, seconds: float) -> ClusterLook:
    """Ask for the cluster's brokers; Unreachable after ``seconds``, or once all have refused."""
    heard: list[KafkaError] = []
    try:
        admin = quiet_admin({**connection.settings(), "error_cb": heard.append})
        answer = admin.describe_cluster(request_timeout=seconds)
        deadline = time.monotonic() + seconds
        while not answer.done() and time.monotonic() < deadline and not _hopeless(heard):
            admin.poll(POLL_SECONDS)
        if not answer.done():
            raise _unreachable(heard, connection, seconds)
        found = answer.result()
    except KafkaException as error:
        raise _unreachable([*heard, error.args[0]], connection, seconds) from None
    brokers = tuple(Broker(node.id, node.host, node.port) for node in found.nodes)
    return ClusterLook(found.cluster_id or "", brokers)


def _hopeless(heard: list[KafkaError]) -> bool:
    return any(error.code() == KafkaError._ALL_BROKERS_DOWN for error in heard)


def _unreachable(heard: list[KafkaError], connection: Connection, seconds: float) -> Unreachable:
    causes = [error for error in heard if error.code() != KafkaError._ALL_BROKERS_DOWN]
    if not causes or causes[0].code() == KafkaError._TIMED_OUT:
        return Unreachable(KafkaError._TIMED_OUT, f"no answer within {seconds:g} s")
    text = re.sub(r" \(after \d+ms in state \w+\)$", "", causes[0].str())
    for secret in filter(None, connection.secrets()):
        text = text.replace(secret, "***")
    return Unreachable(causes[0].code(), text)
