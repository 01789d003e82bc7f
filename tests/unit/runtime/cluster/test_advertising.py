"""A worker's address is stored, or its worker hears that it is not and tries again."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError

from penstock.kafka import plain_writes
from penstock.kafka.clients import Connection
from penstock.kafka.errors import AccessDenied, BrokerUnavailable, KafkaFault
from penstock.kafka.membership import Joined
from penstock.runtime.cluster.assigner import Assigner
from penstock.runtime.stores.roster import Address, Roster, worker_record

JOINED = Joined("member-1", b"")
Reported = Callable[[KafkaError | None, Any], None]


class Producer:
    """Its records are taken, refused with an error, or wait for ever."""

    def __init__(self, error: int | None, *, waits: bool = False) -> None:
        self._error = error
        self._waits = waits
        self._reports: list[Reported] = []
        self.sent: list[tuple[Any, ...]] = []

    def produce(self, *record: object, on_delivery: Reported) -> None:
        self.sent.append(record)
        self._reports.append(on_delivery)

    def flush(self, _: float) -> int:
        error = None if self._error is None else KafkaError(self._error)
        for report in [] if self._waits else self._reports:
            report(error, SimpleNamespace(offset=lambda: 7))
        return len(self._reports) if self._waits else 0


def advertise(producer: Producer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_writes, "producer", lambda *_, **__: producer)
    anything: Any = SimpleNamespace(topic="workers")
    assigner = Assigner(
        worker_id="here:1",
        url="http://here:1",
        group_id="group",
        admin=anything,
        connection=Connection("nowhere:1"),
        configs=anything,
        roster=Roster(),
        topic=anything,
    )
    assigner.advertise(JOINED)


def test_it_is_stored_with_the_member_that_the_group_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    producer = Producer(None)
    advertise(producer, monkeypatch)
    key, value = worker_record("here:1", Address("http://here:1", "member-1"))
    assert producer.sent == [("workers", value, key)]


@pytest.mark.parametrize(
    ("producer", "fault"),
    [
        (Producer(None, waits=True), BrokerUnavailable),
        (Producer(KafkaError._MSG_TIMED_OUT), BrokerUnavailable),
        (Producer(KafkaError.NOT_ENOUGH_REPLICAS), BrokerUnavailable),
        (Producer(KafkaError.TOPIC_AUTHORIZATION_FAILED), AccessDenied),
    ],
    ids=["waits", "timed out", "replicas", "denied"],
)
def test_what_is_not_stored_is_told_so_that_it_is_tried_again(
    producer: Producer, fault: type[KafkaFault], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(fault):
        advertise(producer, monkeypatch)
