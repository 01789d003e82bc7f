"""What an alter request may hold, with Kafka Connect's statuses and texts."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.runtime.errors import BadRequest, InternalError
from penstock.runtime.offset_requests import passed_over, sink_changes, source_changes

NO_PARTITION = "The partition for a sink connector offset cannot be null or missing"
NO_KEYS = (
    "The partition for a sink connector offset must contain the keys 'kafka_topic' and "
    "'kafka_partition'"
)
NO_OFFSET_KEY = (
    "The offset for a sink connector should either be null or contain the key 'kafka_offset'"
)


def at(topic: Any = "t", partition: Any = 0) -> dict[str, Any]:
    return {"kafka_topic": topic, "kafka_partition": partition}


def bad_partition(value: str) -> str:
    return (
        f"Failed to parse the following Kafka partition value in the provided offsets: '{value}'. "
        "Partition values for sink connectors need to be integers."
    )


def bad_offset(value: str) -> str:
    return (
        f"Failed to parse the following Kafka offset value in the provided offsets: '{value}'. "
        "Offset values for sink connectors need to be integers."
    )


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"partition": None, "offset": None}, NO_PARTITION),
        ({"offset": {"kafka_offset": 1}}, NO_PARTITION),
        ({"partition": {}}, NO_KEYS),
        ({"partition": {"kafka_topic": "t"}}, NO_KEYS),
        ({"partition": {"kafka_partition": 1}}, NO_KEYS),
        ({"partition": at(None)}, "Kafka topic names must be valid strings and may not be null"),
        (
            {"partition": at("t", None)},
            "Kafka partitions must be valid numbers and may not be null",
        ),
        ({"partition": at("t", "not a number")}, bad_partition("not a number")),
        ({"partition": at("t", 1.5)}, bad_partition("1.5")),
        ({"partition": at(), "offset": {}}, NO_OFFSET_KEY),
        ({"partition": at(), "offset": {"position": 3}}, NO_OFFSET_KEY),
        ({"partition": at(), "offset": {"kafka_offset": "x"}}, bad_offset("x")),
        ({"partition": at(), "offset": {"kafka_offset": 0.5}}, bad_offset("0.5")),
        ({"partition": at(), "offset": {"kafka_offset": "1_000"}}, bad_offset("1_000")),
        ({"partition": at(), "offset": {"kafka_offset": " 1"}}, bad_offset(" 1")),
        ({"partition": at(), "offset": {"kafka_offset": True}}, bad_offset("true")),
        ({"partition": at(), "offset": {"kafka_offset": 2**63}}, bad_offset(str(2**63))),
        ({"partition": at("t", 2**31)}, bad_partition(str(2**31))),
        ({"partition": at("t", "")}, bad_partition("")),
        (
            {"partition": at(), "offset": {"kafka_offset": "-1"}},
            "Kafka offset values may not be negative, but one of them is -1",
        ),
        (
            {"partition": at("t", -1)},
            "Kafka partition values may not be negative, but one of them is -1",
        ),
    ],
)
def test_a_sink_entry_that_is_refused(entry: dict[str, Any], message: str) -> None:
    with pytest.raises(BadRequest) as refused:
        sink_changes([entry])
    assert str(refused.value) == message
    assert refused.value.status == 400


def test_one_bad_entry_refuses_the_whole_sink_request() -> None:
    with pytest.raises(BadRequest):
        sink_changes([{"partition": at(), "offset": {"kafka_offset": 1}}, {"partition": None}])


def test_sink_offsets_may_be_numbers_texts_or_null() -> None:
    requested = [
        {"partition": at("a", 0), "offset": {"kafka_offset": 2**63 - 1}},
        {"partition": at("a", "1"), "offset": {"kafka_offset": "+2000"}},
        {"partition": at("b", 0), "offset": None},
        {"partition": at("c", 0)},
    ]
    assert sink_changes(requested) == {
        ("a", 0): 2**63 - 1,
        ("a", 1): 2000,
        ("b", 0): None,
        ("c", 0): None,
    }


@pytest.mark.parametrize("value", [1, "text", ["list"], True])
def test_a_source_entry_that_is_no_map(value: Any) -> None:
    for entry in ({"partition": value}, {"partition": {}, "offset": value}):
        with pytest.raises(InternalError, match=r"^Offsets must be specified as a Map$"):
            source_changes([entry])


@pytest.mark.parametrize(("nested", "kind"), [({"a": 1}, "MAP"), ([1], "ARRAY")])
def test_a_source_entry_with_a_nested_value(nested: Any, kind: str) -> None:
    with pytest.raises(InternalError) as refused:
        source_changes([{"partition": {"file": "a"}, "offset": {"position": nested}}])
    assert str(refused.value) == (
        "Offsets may only contain primitive types as values, but field position contains " + kind
    )
    assert refused.value.status == 500


def test_source_entries_are_taken_as_they_are() -> None:
    partition = {"s": "ü", "i": 2**40, "d": 0.5, "b": True, "n": None}
    requested = [
        {"partition": partition, "offset": {"position": 3}},
        {"partition": {"file": "b"}, "offset": None},
        {"partition": {"file": "c"}},
        {"partition": None, "offset": {"position": 1}},
    ]
    assert source_changes(requested) == [
        (partition, {"position": 3}),
        ({"file": "b"}, None),
        ({"file": "c"}, None),
        (None, {"position": 1}),
    ]


@pytest.mark.parametrize(
    ("offset", "told"),
    [
        (1001, "t-0 offsets 500 to 999"),
        (600, "t-0 offsets 500 to 599"),
        (501, "t-0 offsets 500 to 500"),
        (500, ""),
        (0, ""),
        (None, ""),
    ],
)
def test_records_that_an_alteration_passes_over(offset: int | None, told: str) -> None:
    uncommitted = [("t", 0, 500, 1000), ("u", 0, 0, 9)]
    assert passed_over(uncommitted, {("t", 0): offset, ("t", 1): 7}) == told
