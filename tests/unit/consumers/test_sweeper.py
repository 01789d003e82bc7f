"""What the sweeper says if it may not sweep."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from unittest.mock import Mock

import pytest
from confluent_kafka import KafkaError

from penstock.consumers import sweeper
from penstock.kafka.clients import Connection
from penstock.kafka.errors import AccessDenied
from waiting import eventually


def test_the_same_trouble_is_told_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    denied = AccessDenied("see topic t", KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED))
    outcomes: Iterator[Exception | list[object]] = iter([denied, denied, [], denied])
    sweep = Mock(side_effect=lambda: _play(next(outcomes, [])))
    monkeypatch.setattr(sweeper, "Directory", Mock(return_value=Mock(sweep=sweep)))
    made = sweeper.Sweeper(lambda: Connection("nowhere:1"), lambda: True, 0.01)
    with caplog.at_level(logging.WARNING, "penstock.consumers.sweeper"):
        made.start()
        eventually(lambda: sweep.call_count > 4, what="some sweeps")
        made.stop()
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == 2, "once, and again after it had been well"
    assert all("Not allowed to see topic t" in text for text in told)


def _play(outcome: Exception | list[object]) -> list[object]:
    if isinstance(outcome, Exception):
        raise outcome
    return outcome
