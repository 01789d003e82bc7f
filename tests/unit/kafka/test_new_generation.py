"""What the broker says to a membership of an earlier generation."""

from __future__ import annotations

from unittest.mock import Mock

import pytest
from confluent_kafka import KafkaError, KafkaException, Producer

from penstock.kafka import clients
from penstock.kafka.clients import Connection
from penstock.kafka.errors import GenerationChanged, LeaseLost
from penstock.kafka.transactions import GroupOffsets, Transactions

OFFSETS = [GroupOffsets(b"", [("workers", 0, 0, "")])]


@pytest.fixture
def producer(monkeypatch: pytest.MonkeyPatch) -> Mock:
    made = Mock(spec=Producer)
    made.__len__ = lambda _self: 0
    monkeypatch.setattr(clients, "transactional_producer", lambda *_, **__: made)
    return made


def refused(producer: Mock, code: int) -> LeaseLost:
    producer.send_offsets_to_transaction.side_effect = KafkaException(KafkaError(code))
    transactions = Transactions(Connection("nowhere:1"), "id")
    with pytest.raises(LeaseLost) as raised:
        transactions.commit([], OFFSETS)
    return raised.value


def test_an_earlier_generation_aborts_the_transaction_and_nothing_else(producer: Mock) -> None:
    assert isinstance(refused(producer, KafkaError.ILLEGAL_GENERATION), GenerationChanged)
    assert producer.abort_transaction.call_count == 1
    assert not producer.commit_transaction.called


@pytest.mark.parametrize("code", [KafkaError.UNKNOWN_MEMBER_ID, KafkaError.INVALID_PRODUCER_EPOCH])
def test_who_was_replaced_is_lost(producer: Mock, code: int) -> None:
    assert not isinstance(refused(producer, code), GenerationChanged)
    assert not producer.abort_transaction.called
