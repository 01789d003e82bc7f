"""Offsets of a source that Kafka does not take leave no open transaction behind."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from confluent_kafka import KafkaError, KafkaException, Producer

from penstock.engine.lease.lease import Membership
from penstock.kafka import clients
from penstock.kafka.clients import Connection
from penstock.runtime.errors import InternalError
from penstock.runtime.offsets_api import OffsetsApi


@pytest.mark.parametrize(
    "code", [KafkaError.UNKNOWN_MEMBER_ID, KafkaError.ILLEGAL_GENERATION, KafkaError._TIMED_OUT]
)
def test_what_a_worker_that_was_replaced_has_written_is_aborted(
    code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would hide what other sources commit to that partition until it times out."""
    producer = Mock(spec=Producer)
    producer.__len__ = lambda _self: 0
    producer.send_offsets_to_transaction.side_effect = KafkaException(KafkaError(code))
    monkeypatch.setattr(clients, "transactional_producer", lambda *_, **__: producer)
    context: Any = SimpleNamespace(
        membership=lambda: Membership(b"", "workers"),
        connection=Connection("nowhere:1"),
        worker=SimpleNamespace(group_id="group"),
    )
    nothing: Any = None
    with pytest.raises(InternalError, match="Kafka did not accept the offsets"):
        OffsetsApi(context, nothing)._transact("orders", [("offsets", b"key", b"value")])
    assert producer.produce.called
    assert producer.abort_transaction.call_count == 1
