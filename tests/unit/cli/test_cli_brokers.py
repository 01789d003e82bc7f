"""What a command tells when no broker answers."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from penstock.cli import brokers
from penstock.kafka import clients
from penstock.kafka.errors import BrokerUnavailable


class LateAdmin:
    """Its request has failed before it tells why."""

    def __init__(self, tell: Callable[[KafkaError], None], polls: int) -> None:
        self._tell = tell
        self._left = polls

    def describe_cluster(self, **_: Any) -> Future[Any]:
        failed: Future[Any] = Future()
        failed.set_exception(KafkaException(KafkaError(KafkaError._TIMED_OUT)))
        return failed

    def poll(self, _: float) -> None:
        self._left -= 1
        if self._left == 0:
            self._tell(KafkaError(KafkaError._TRANSPORT, "Connection refused"))


def test_why_nobody_answered_may_be_heard_after_the_request_has_failed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(clients, "admin", lambda _, error_cb: LateAdmin(error_cb, polls=3))
    with pytest.raises(BrokerUnavailable, match=r"No Kafka broker.*\(Connection refused\)"):
        brokers.reached("nobody:9092", None)


def test_who_hears_nothing_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(brokers, "ANSWER_SECONDS", -2.0)
    monkeypatch.setattr(clients, "admin", lambda _, error_cb: LateAdmin(error_cb, polls=0))
    with pytest.raises(BrokerUnavailable, match=r"No Kafka broker answered at nobody:9092"):
        brokers.reached("nobody:9092", None)
