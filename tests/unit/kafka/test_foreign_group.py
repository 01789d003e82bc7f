"""Who is in the worker group, before this worker joins it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any
from unittest.mock import Mock

import pytest
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient
from kafka import admin, errors

from penstock.kafka import foreign_group
from penstock.kafka.clients import Connection
from penstock.kafka.errors import AccessDenied
from penstock.kafka.foreign_group import GroupTaken, refuse_foreign_group

FOREIGN = KafkaError._INVALID_ARG
Refuse = Callable[..., None]


def answer(code: int | None) -> dict[str, Future[Any]]:
    """What the client says when it is asked to describe the group."""
    future: Future[Any] = Future()
    if code is None:
        future.set_result(Mock())
    else:
        future.set_exception(KafkaException(KafkaError(code)))
    return {"orders": future}


@pytest.fixture
def refuse(monkeypatch: pytest.MonkeyPatch) -> Refuse:
    """Asks a client that answers with these codes, in turn, about a group of this kind."""

    def check(*codes: int | None, kind: str = "connect", state: str = "Stable") -> None:
        listed = [
            {"group_id": "other", "protocol_type": "connect", "group_state": "Stable"},
            {"group_id": "orders", "protocol_type": kind, "group_state": state},
        ]
        monkeypatch.setattr(
            admin,
            "KafkaAdminClient",
            Mock(return_value=Mock(**{"list_groups.return_value": listed})),
        )
        client = Mock(spec=AdminClient)
        client.describe_consumer_groups.side_effect = [answer(code) for code in codes]
        refuse_foreign_group(client, Connection("127.0.0.1:1"), "orders")

    return check


def test_a_live_kafka_connect_cluster_is_refused_and_the_text_says_what_to_do(
    refuse: Refuse,
) -> None:
    with pytest.raises(GroupTaken) as refused:
        refuse(FOREIGN)
    text = str(refused.value)
    assert text.startswith("Group 'orders' belongs to a running Kafka Connect cluster.")
    assert "stop those workers first and start this one again" in text
    assert "another group.id" in text


def test_any_other_kind_is_refused_too(refuse: Refuse) -> None:
    with pytest.raises(GroupTaken, match="belongs to members of type 'sr'"):
        refuse(FOREIGN, kind="sr")


def test_our_own_kind_and_those_who_have_left_are_no_hindrance(refuse: Refuse) -> None:
    refuse(None)
    refuse(KafkaError.GROUP_ID_NOT_FOUND)
    refuse(FOREIGN, state="Empty")


def test_a_group_that_the_worker_may_not_see_is_told(refuse: Refuse) -> None:
    with pytest.raises(AccessDenied, match=r"Not allowed to see group orders \(GROUP_AUTH"):
        refuse(KafkaError.GROUP_AUTHORIZATION_FAILED)


def test_a_broker_that_does_not_know_yet_is_asked_again(refuse: Refuse) -> None:
    with pytest.raises(GroupTaken):
        refuse(KafkaError.COORDINATOR_LOAD_IN_PROGRESS, FOREIGN)


def test_a_broker_that_never_tells_leaves_it_to_the_join(
    refuse: Refuse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(foreign_group, "WAIT_SECONDS", 0.0)
    refuse(KafkaError.COORDINATOR_NOT_AVAILABLE)
    unreachable = Mock(side_effect=errors.KafkaError("nobody answers"))
    monkeypatch.setattr(admin, "KafkaAdminClient", unreachable)
    client = Mock(spec=AdminClient)
    client.describe_consumer_groups.return_value = answer(FOREIGN)
    refuse_foreign_group(client, Connection("127.0.0.1:1"), "orders")
    unreachable.assert_called_once()
