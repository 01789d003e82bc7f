"""Who is in the worker group, before this worker joins it."""

from __future__ import annotations

from unittest.mock import Mock

import pytest
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from penstock.kafka import foreign_group
from penstock.kafka.foreign_group import GroupTaken, refuse_foreign_group


def client(kind: str, *members: str) -> Mock:
    """Knows one group."""
    present = [Mock(client_id=member, client_host="/127.0.0.1") for member in members]
    asked = Mock(spec=AdminClient)
    asked.list_groups.return_value = [Mock(protocol_type=kind, members=present)]
    return asked


def test_a_live_kafka_connect_cluster_is_named_and_the_text_says_what_to_do() -> None:
    with pytest.raises(GroupTaken) as refused:
        refuse_foreign_group(client("connect", "connect-b:8083", "connect-a:8083"), "orders")
    text = str(refused.value)
    assert text.startswith("Group 'orders' belongs to a running Kafka Connect cluster")
    assert "connect-a:8083 at 127.0.0.1, connect-b:8083 at 127.0.0.1" in text
    assert "stop those workers first and start this one again" in text
    assert "another group.id" in text


def test_any_other_kind_is_refused_too() -> None:
    with pytest.raises(GroupTaken, match="belongs to a group of type 'sr'"):
        refuse_foreign_group(client("sr", "schema-registry"), "orders")


@pytest.mark.parametrize("free", [client("consumer", "ours"), client("connect"), client("")])
def test_our_own_kind_and_those_who_have_left_are_no_hindrance(free: Mock) -> None:
    refuse_foreign_group(free, "orders")


def test_a_broker_that_does_not_know_yet_is_asked_again() -> None:
    busy = KafkaException(KafkaError(KafkaError.COORDINATOR_LOAD_IN_PROGRESS))
    asked = client("connect", "worker")
    answers = [busy, busy, asked.list_groups.return_value]
    asked.list_groups.side_effect = answers
    with pytest.raises(GroupTaken):
        refuse_foreign_group(asked, "orders")


def test_a_broker_that_never_tells_leaves_it_to_the_join(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(foreign_group, "WAIT_SECONDS", 0.0)
    asked = Mock(spec=AdminClient)
    asked.list_groups.side_effect = KafkaException(KafkaError(KafkaError.NOT_COORDINATOR))
    refuse_foreign_group(asked, "orders")
    assert "does not tell who is in group orders" in caplog.text
