"""What is chosen among a few is checked, and all partitions can be asked for by that word."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.consumers import Consumer, InvalidConsumer
from penstock.consumers.holding.sharing import settings_of
from penstock.consumers.options import Options
from penstock.consumers.rfc import ConsumerConfigExtBuilder

BROKERS: dict[str, Any] = {"bootstrap_servers": "unasked:9092"}


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"isolation": "read-uncommitted"}, "isolation is one of read_committed, read_uncommitted"),
        ({"max_bytes": 0}, "max_bytes is 1 to 1,000,000,000"),
        ({"max_bytes": 10**10}, "max_bytes is 1 to"),
        ({"partitions": "some"}, "partitions are a number, several of them, or all, not 'some'"),
        ({"partitions": any}, "partitions are a number"),
        ({"partitions": 1.5}, "partitions are a number"),
    ],
)
def test_what_is_none_of_the_choices(options: dict[str, Any], text: str) -> None:
    with pytest.raises(InvalidConsumer, match=text):
        Consumer("orders", **options, **BROKERS)


def test_all_partitions_some_and_one() -> None:
    def chosen(partitions: Any) -> set[int]:
        return set(Consumer("orders", partitions=partitions, **BROKERS).options.partitions)

    assert chosen(all) == chosen("all") == chosen(None) == set()
    assert chosen(0) == {0}
    assert chosen(range(2)) == {0, 1}


def test_isolation() -> None:
    assert Consumer("orders", isolation="read_committed", **BROKERS).options.committed_only
    assert not Consumer("orders", isolation="read_uncommitted", **BROKERS).options.committed_only


def test_whoever_shares_fetches_as_much_as_was_asked_for() -> None:
    settings = settings_of(Options("orders", "c1", share=True, max_bytes=12300))
    assert settings["fetch.message.max.bytes"] == 12300
    assert settings_of(Options("orders", "c1", share=True))["fetch.message.max.bytes"] > 12300


def test_what_was_built_stays_as_it_was() -> None:
    builder = ConsumerConfigExtBuilder("orders").partition(0)
    config = builder.build()
    builder.partition(1).build()
    assert config.consumer(**BROKERS).options.partitions == {0}
