"""A source cluster that wants a login, and allows no more than reading a topic."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    ResourcePatternType,
    ResourceType,
)

from guarded_broker import GuardedBroker
from mirrored import MirroredTopic, mirror_config
from penstock.embedded import Jars, Java
from penstock.sdk import UserError
from penstock.sdk.testing.played_source import PlayedSource
from topics import Topics
from waiting import eventually

OPERATIONS = (AclOperation.READ, AclOperation.DESCRIBE, AclOperation.DESCRIBE_CONFIGS)


class _Guarded(MirroredTopic):
    """Read with a login, written to without one."""

    def __init__(self, guarded: GuardedBroker, target: Topics, password: str) -> None:
        super().__init__(guarded.topics, "orders")
        self._guarded, self._target, self._password = guarded, target, password

    def config(self) -> Mapping[str, str]:
        login = {**self._guarded.settings("reader"), "sasl.password": self._password}
        return {
            **mirror_config(self._guarded.address, self._target.bootstrap_servers, "orders"),
            **{f"source.cluster.{key}": value for key, value in login.items()},
        }


def _may(operation: AclOperation) -> AclBinding:
    return AclBinding(
        ResourceType.TOPIC,
        "orders",
        ResourcePatternType.LITERAL,
        "User:reader",
        "*",
        operation,
        AclPermissionType.ALLOW,
    )


@pytest.mark.heavy
def test_a_login_by_prefix(tmp_path: Path, java: Java, jars: Jars, topics: Topics) -> None:
    guarded = GuardedBroker(tmp_path, java, jars, {"reader": "hunter2-right"})
    with guarded.broker:
        source = _Guarded(guarded, topics, "hunter2-right")
        guarded.grant(map(_may, OPERATIONS))
        source.write([1, 2, 3])
        worker = PlayedSource(source)
        worker.turn()
        assert worker.delivered == [1, 2, 3]
        source._password = "hunter2-wrong"
        told = eventually(lambda: _said(worker), within=60, what="that the login is wrong")
    assert "does not let this client log in" in told
    assert "hunter2" not in told


def _said(worker: PlayedSource) -> str:
    try:
        worker.turn()
    except UserError as error:
        return str(error)
    return ""
