"""Options that do not go together are refused when they are given, not when it is too late."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from penstock import consumers
from penstock.consumers import Consumer, InvalidConsumer, Offset, Strategy, rfc
from penstock.consumers.offset import Kind
from penstock.consumers.rfc import ConsumerConfigExtBuilder, OffsetManagement, connect

BROKERS: dict[str, Any] = {"bootstrap_servers": "unasked:9092"}


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"strategy": "auto"}, "an offset strategy needs a consumer's name"),
        ({"strategy": "manual"}, "an offset strategy needs a consumer's name"),
        ({"ttl": 5}, "a TTL needs a consumer's name"),
        ({"name": ""}, "cannot be empty"),
        ({"name": "a\nb"}, "no control characters"),
        ({"name": "a" * 300}, "at most 200 letters"),
        ({"name": "a", "flush": 0}, "flush interval must be above 0"),
        ({"name": "a", "ttl": -1}, "TTL must be above 0"),
        ({"name": "a", "strategy": "sometimes"}, "strategy is one of auto, manual, none"),
        ({"partitions": [-1]}, "numbered from 0"),
        ({"last": -1}, "0 or more"),
        ({"share": True}, "needs a consumer's name"),
        (
            {"share": True, "name": "a", "partitions": [0]},
            "cannot be combined with partitions or take_over",
        ),
        (
            {"share": True, "name": "a", "until_end": True},
            "cannot be combined with until_end or last",
        ),
        (
            {"share": True, "name": "a", "strategy": "none"},
            "cannot be combined with the strategy none",
        ),
        ({"share": True, "name": "a", "reset": Offset.end()}, "cannot be combined with reset"),
    ],
)
def test_options_that_do_not_go_together(options: dict[str, Any], text: str) -> None:
    with pytest.raises(InvalidConsumer, match=text):
        Consumer("orders", **options, **BROKERS)


def test_a_name_means_automatic_and_none_means_nothing_is_stored() -> None:
    assert Consumer("orders", "c1", **BROKERS).options.management is Strategy.AUTO
    assert not Consumer("orders", **BROKERS).options.stores


def test_no_brokers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PENSTOCK_BOOTSTRAP_SERVERS", raising=False)
    with pytest.raises(InvalidConsumer, match="set PENSTOCK_BOOTSTRAP_SERVERS"):
        Consumer("orders")
    monkeypatch.setenv("PENSTOCK_BOOTSTRAP_SERVERS", "unasked:9092")
    assert Consumer("orders").options.topic == "orders"


def test_the_names_of_the_rfc() -> None:
    config = (
        ConsumerConfigExtBuilder()
        .topic("mytopic")
        .partition(0)
        .partition(2)
        .offset_start(rfc.Offset.Beginning)
        .offset_consumer("my-consumer")
        .offset_strategy(OffsetManagement.Manual)
        .offset_flush(3000)
        .max_bytes(12300)
        .build()
    )
    options = connect("unasked:9092").consumer_with_config(config).options
    assert (options.topic, options.partitions, options.name) == (
        "mytopic",
        frozenset({0, 2}),
        "my-consumer",
    )
    assert options.management is OffsetManagement.Manual
    assert (options.flush, options.max_bytes, options.start) == (3.0, 12300, Offset.beginning())


def test_the_builder_takes_a_timedelta_and_refuses_at_build() -> None:
    builder = ConsumerConfigExtBuilder("t").offset_flush(timedelta(seconds=2))
    assert builder.build().consumer(**BROKERS).options.flush == 2
    with pytest.raises(InvalidConsumer, match="needs a consumer's name"):
        ConsumerConfigExtBuilder("t").offset_strategy(OffsetManagement.Manual).build()
    with pytest.raises(InvalidConsumer, match="a topic is needed"):
        ConsumerConfigExtBuilder().build()


def test_offsets() -> None:
    assert Offset.at(datetime(2023, 11, 14, tzinfo=UTC)) == Offset(Kind.TIME, 1_699_920_000_000)
    with pytest.raises(ValueError, match="cannot be counted by -1"):
        Offset.from_end(-1)


def test_where_to_begin_can_be_a_word() -> None:
    options = Consumer("orders", "c1", start="end", reset="beginning", **BROKERS).options
    assert (options.start, options.reset) == (Offset.end(), Offset.beginning())
    for wrong in ("first", 3):
        with pytest.raises(InvalidConsumer, match="start is an Offset, or one of beginning, end"):
            Consumer("orders", "c1", start=wrong, **BROKERS)  # type: ignore[arg-type] # on purpose


def test_the_rfc_has_a_module_of_its_own() -> None:
    assert not set(consumers.__all__) & (set(rfc.__all__) - {"Offset", "Record"})
    assert not hasattr(Consumer, "offset_commit")
    assert not hasattr(Offset, "Beginning")
