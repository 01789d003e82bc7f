"""A worker learns of its generation and of its election, even if the first attempt fails."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

from confluent_kafka import TopicPartition

from penstock.kafka import membership as membership_module
from penstock.kafka.clients import Connection
from penstock.kafka.membership import GroupMember, Joined

FIRST = [TopicPartition("workers", 0)]


def member(on_joined: Mock, on_elected: Mock) -> GroupMember:
    return GroupMember(
        Connection("127.0.0.1:1"),
        "group",
        "workers",
        on_joined=on_joined,
        on_elected=on_elected,
        on_deposed=Mock(),
        timings={},
    )


def test_what_could_not_be_told_is_told_again_and_then_no_more(monkeypatch: Any) -> None:
    monkeypatch.setattr(membership_module, "time", Mock())
    joined, elected = Mock(side_effect=[KeyError, None]), Mock(side_effect=[KeyError, None])
    membership = member(joined, elected)
    consumer: Any = Mock()
    consumer.poll.return_value = None
    consumer.memberid.return_value = "me"
    consumer.consumer_group_metadata.return_value = b"5"
    membership._assigned(consumer, FIRST)
    for _ in range(5):
        membership._step(consumer)
    assert [call.args for call in joined.call_args_list] == [(Joined("me", b"5"),)] * 2
    assert elected.call_count == 2
