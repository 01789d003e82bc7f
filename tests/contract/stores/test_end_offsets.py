"""One partition that is out of reach, or forbidden, spoils no other sink's answer."""

from __future__ import annotations

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
from penstock.embedded import Jars, Java
from penstock.kafka import clients
from penstock.kafka.clients import Connection
from penstock.kafka.errors import AccessDenied, BrokerUnavailable
from penstock.kafka.topics import PartitionId
from penstock.runtime.running.end_offsets import EndOffsets
from two_brokers import two_brokers
from waiting import eventually


@pytest.mark.heavy
def test_a_partition_whose_leader_is_away(tmp_path: Path, java: Java, jars: Jars) -> None:
    with two_brokers(tmp_path, java, jars) as cluster:
        cluster.create("sound", 1)
        cluster.create("away", 2)
        for topic in ("sound", "away"):
            cluster.topics.produce(topic, [b"record"])
        connection = Connection(cluster.first.bootstrap_servers)
        ends = EndOffsets(clients.admin(connection))
        both = [("sound", 0), ("away", 0)]
        all_there = {("sound", 0): 2, ("away", 0): 2}
        eventually(lambda: looked_at(ends, both) == all_there, what="both ends")

        cluster.second.kill()
        eventually(lambda: ends.of(both).faults, what="a fault")
        said = ends.of(both)
        assert said.offsets == {("sound", 0): 2}, "its neighbour is answered for in the same call"
        assert isinstance(said.faults["away", 0], BrokerUnavailable)
        cluster.topics.produce("sound", [b"record"])
        eventually(lambda: ends.of(both).offsets == {("sound", 0): 4}, what="the other's new end")

        cluster.second.start()
        back = {("sound", 0): 4, ("away", 0): 2}

        eventually(lambda: looked_at(ends, both) == back, what="the partition that is back")
        assert ends.of(both).faults == {}


def looked_at(ends: EndOffsets, partitions: list[PartitionId]) -> dict[PartitionId, int]:
    """As a sink looks: at the list of topics, from which the client learns of leaders, too."""
    ends.topics()
    return dict(ends.of(partitions).offsets)


def may_see(topic: str) -> AclBinding:
    return AclBinding(
        ResourceType.TOPIC,
        topic,
        ResourcePatternType.LITERAL,
        "User:worker",
        "*",
        AclOperation.DESCRIBE,
        AclPermissionType.ALLOW,
    )


@pytest.mark.heavy
def test_a_partition_that_an_acl_forbids(tmp_path: Path, java: Java, jars: Jars) -> None:
    guarded = GuardedBroker(tmp_path / "guarded", java, jars, {"worker": "secret"})
    with guarded.broker:
        for topic in ("mine", "forbidden"):
            guarded.topics.create(topic)
            guarded.topics.produce(topic, [b"record"])
        guarded.grant([may_see("mine")])
        connection = Connection(guarded.address, guarded.settings("worker"))
        ends = EndOffsets(clients.admin(connection))
        for _ in range(2):
            said = ends.of([("mine", 0), ("forbidden", 0)])
            assert said.offsets == {("mine", 0): 2}
            assert isinstance(said.faults["forbidden", 0], AccessDenied)
        guarded.grant([may_see("forbidden")])
        granted = {("mine", 0): 2, ("forbidden", 0): 2}
        eventually(lambda: looked_at(ends, list(granted)) == granted, what="what is allowed now")
