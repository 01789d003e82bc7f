"""Rule 7: what an error of Kafka's leads to."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.client import ConnectClient
from penstock.embedded import EmbeddedBroker
from penstock.kafka.clients import Connection
from penstock.kafka.errors import LeaseLost, RecordRefused
from penstock.kafka.transactions import Transactions, fence
from topics import Topics, numbers_of
from waiting import WaitRanOut, eventually


def test_a_fenced_lease_goes_back_to_rule_1_and_never_fails(
    connectors: ConnectClient, scripted, topics: Topics, worker, name: str
) -> None:
    scripted(count=1_000_000, batch=5, pause_ms=100)
    for rounds in range(1, 4):
        before = len(topics.values(name))
        eventually(lambda: len(topics.values(name)) > before + 10, what="progress")  # noqa: B023 (called at once)
        fence_until_noticed(connectors, topics, f"{worker.config.group_id}-{name}-0", name, rounds)
        task = task_metrics(connectors, name)
        assert (task["state"], task["errors"]["failures"]) == ("RUNNING", 0)
    connectors.stop(name)
    arrived = numbers_of(topics.values(name), 0)
    assert arrived == list(range(len(arrived)))


def fence_until_noticed(
    connectors: ConnectClient, topics: Topics, transactional_id: str, name: str, times: int
) -> None:
    """Take the id until so many leases were lost by that, or the task has failed.

    A fence may come between two leases or find a transaction that is just being aborted: then none
    is lost by it.
    """

    def noticed() -> bool:
        task = task_metrics(connectors, name)
        fenced = task["lost_leases"]["reasons"].get("fenced", 0)
        return fenced >= times or task["state"] == "FAILED"

    def noticed_soon() -> bool:
        topics.transaction(transactional_id).abort_transaction(20)
        try:
            return eventually(noticed, within=10)
        except WaitRanOut:
            return False

    eventually(noticed_soon, what=f"a lease that is lost, the {times}. time")


def task_metrics(connectors: ConnectClient, name: str) -> dict[str, Any]:
    (task,) = connectors.metrics(name)["tasks"]
    return task


def test_a_full_producer_queue_is_waited_out(
    broker: EmbeddedBroker, topics: Topics, name: str
) -> None:
    connection = Connection(broker.bootstrap_servers)
    small = {"queue.buffering.max.messages": 100, "linger.ms": 50}
    producer = Transactions(connection, name, **small)
    for number in range(2000):
        producer.send(name, str(number).encode())
    producer.commit([], [])
    assert topics.values(name) == [str(number) for number in range(2000)]


def test_a_fenced_producer_has_lost_its_lease(
    broker: EmbeddedBroker, topics: Topics, name: str
) -> None:
    connection = Connection(broker.bootstrap_servers)
    producer = Transactions(connection, name)
    producer.send(name, b"never seen")
    fence(connection, [name])
    with pytest.raises(LeaseLost):
        producer.commit([], [])
    assert topics.values(name) == []


def test_a_record_that_the_broker_never_takes_is_refused(
    broker: EmbeddedBroker, topics: Topics, name: str
) -> None:
    topics.create(name, config={"max.message.bytes": "1000"})
    producer = Transactions(Connection(broker.bootstrap_servers), name)
    producer.send(name, b"x" * 5000)
    with pytest.raises(RecordRefused, match="MSG_SIZE_TOO_LARGE"):
        producer.commit([], [])
    assert topics.values(name) == []
