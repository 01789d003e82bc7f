"""A topic that another worker is making at this moment."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future
from typing import Any
from unittest.mock import Mock

import pytest
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from penstock.kafka import compacted_topics
from penstock.kafka.compacted_topics import ensure_compacted
from penstock.kafka.errors import BrokerUnavailable, KafkaFault

EXISTS = KafkaError.TOPIC_ALREADY_EXISTS
UNKNOWN = KafkaError.UNKNOWN_TOPIC_OR_PART
COMPACT = {"cleanup.policy": Mock(value="compact")}


def answer(outcome: Any) -> Future[Any]:
    """A future with this error code, or else this result."""
    future: Future[Any] = Future()
    if isinstance(outcome, int):
        future.set_exception(KafkaException(KafkaError(outcome)))
    else:
        future.set_result(outcome)
    return future


def listed(*leaders: int) -> Any:
    """Metadata in which the topic has partitions with these leaders; none: it is not there."""
    partitions = {number: Mock(leader=leader) for number, leader in enumerate(leaders)}
    return Mock(topics={"t": Mock(partitions=partitions)} if leaders else {})


def cluster(*, created: Iterable[Any], described: Iterable[Any], lists: Iterable[Any]) -> Any:
    """A client that gives these answers, one after the other."""
    client = Mock(spec=AdminClient)
    client.create_topics.side_effect = [{"t": answer(each)} for each in created]
    configs = iter(described)
    client.describe_configs.side_effect = lambda asked: {asked[0]: answer(next(configs))}
    client.list_topics.side_effect = lists
    client.describe_topics.side_effect = lambda *_, **__: {"t": answer(UNKNOWN)}
    return client


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compacted_topics, "RETRY_SECONDS", 0)


def test_who_comes_second_asks_again_until_the_brokers_know_the_topic() -> None:
    client = cluster(
        created=[EXISTS],
        described=[UNKNOWN, KafkaError.LEADER_NOT_AVAILABLE, COMPACT],
        lists=[listed(), listed(-1, -1), listed(1, -1), listed(1, 2)],
    )
    assert ensure_compacted(client, "t", partitions=25) == 2


def test_who_comes_first_waits_for_leaders_too_and_counts_what_the_broker_made() -> None:
    client = cluster(created=[{}], described=[], lists=[listed(), listed(-1), listed(1, 1, 1)])
    assert ensure_compacted(client, "t", partitions=-1) == 3


@pytest.mark.parametrize(
    "passing", [KafkaError.NOT_CONTROLLER, KafkaError.REQUEST_TIMED_OUT, KafkaError._TRANSPORT]
)
def test_a_controller_that_is_just_being_elected_is_asked_again(passing: int) -> None:
    client = cluster(created=[passing, EXISTS], described=[COMPACT], lists=[listed(1)])
    assert ensure_compacted(client, "t", partitions=1) == 1


def test_what_does_not_pass_is_told_at_once() -> None:
    client = cluster(created=[KafkaError.POLICY_VIOLATION], described=[], lists=[])
    with pytest.raises(BrokerUnavailable, match="cannot create topic t: POLICY_VIOLATION"):
        ensure_compacted(client, "t", partitions=1)


def test_a_single_topic_is_counted_only_when_all_of_it_is_known() -> None:
    client = cluster(created=[EXISTS], described=[COMPACT], lists=[listed(), listed(1, 1)])
    with pytest.raises(KafkaFault, match="Topic 't' has 2 partitions"):
        ensure_compacted(client, "t", partitions=1, single=True)


@pytest.mark.parametrize(
    ("described", "found"), [(UNKNOWN, listed(1)), (COMPACT, listed()), (COMPACT, listed(1, -1))]
)
def test_nobody_waits_for_ever(monkeypatch: pytest.MonkeyPatch, described: Any, found: Any) -> None:
    monkeypatch.setattr(compacted_topics, "ADMIN_TIMEOUT", 0)
    client = cluster(created=[EXISTS], described=[described] * 9, lists=[found] * 9)
    with pytest.raises(BrokerUnavailable, match="topic t"):
        ensure_compacted(client, "t", partitions=1)
