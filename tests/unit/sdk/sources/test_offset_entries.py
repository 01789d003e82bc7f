"""Entries: typed, copied, and only what the offset store returns as it was."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.sdk import (
    OffsetError,
    OffsetManagerEntry,
    OffsetManagerKey,
    S3OffsetManagerEntry,
    Schema,
    SchemaAndValue,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
LONG = st.integers(-(2**63), 2**63 - 1)
STORABLE = st.one_of(
    st.none(), st.booleans(), LONG, st.floats(allow_nan=False, allow_infinity=False), TEXT
)
NAMES = TEXT.filter(lambda name: name != "recordCount")


@given(st.dictionaries(NAMES, STORABLE), st.integers(0, 2**40))
def test_what_is_stored_comes_back_from_json_as_it_was(
    properties: dict[str, Any], count: int
) -> None:
    entry = OffsetManagerEntry({"k": "v"})
    for name, value in properties.items():
        entry.set_property(name, value)
    entry.increment_record_count(count)
    stored = json.loads(json.dumps(entry.get_properties()))
    assert entry.from_properties(stored) == entry
    assert entry.from_properties(stored).record_count == count


@pytest.mark.parametrize(
    "value",
    [
        b"bytes", {"nested": 1}, [1], (1,), 2**63, -(2**63) - 1, float("nan"), float("inf"),
        "half of a pair: \ud800", object(), 1j,
    ],
)  # fmt: skip
def test_what_the_store_cannot_hold_is_refused_and_named(value: Any) -> None:
    entry = OffsetManagerEntry({"k": "v"})
    with pytest.raises(OffsetError, match="'position'"):
        entry.set_property("position", value)
    with pytest.raises(OffsetError, match="'position'"):
        OffsetManagerEntry({"k": "v"}, {"position": value})
    with pytest.raises(OffsetError, match="'position'"):
        OffsetManagerKey({"position": value})
    assert entry.get_properties() == {"recordCount": 0}


def test_a_key_that_is_no_text_is_refused() -> None:
    with pytest.raises(OffsetError, match="must be text"):
        OffsetManagerEntry({"k": "v"}, {3: "x"})  # type: ignore[dict-item]  # what is tested


def test_copies_are_made_both_ways() -> None:
    given_key, given_properties = {"k": "v"}, {"position": 1}
    entry = OffsetManagerEntry(given_key, given_properties)
    given_key["k"] = given_properties["position"] = 9  # type: ignore[assignment]  # any value will do
    entry.get_properties()["position"] = 8
    assert entry.get_manager_key() == OffsetManagerKey({"k": "v"})
    assert entry.get_long("position") == 1
    other = entry.from_properties(properties := {"position": 5})
    properties["position"] = 6
    assert (other.get_long("position"), entry.get_long("position")) == (5, 1)
    with pytest.raises(TypeError, match="cannot be changed"):
        entry.get_manager_key().partition["k"] = "w"  # type: ignore[index]  # what is tested


def test_keys_are_equal_whatever_their_order_and_survive_a_pickle() -> None:
    one, two = OffsetManagerKey({"a": 1, "b": 2}), OffsetManagerKey({"b": 2, "a": 1})
    assert one == two
    assert hash(one) == hash(two)
    assert OffsetManagerKey({"a": 1}) != one
    assert pickle.loads(pickle.dumps(one.partition)) == {"a": 1, "b": 2}  # noqa: S301 (our own)


def test_whole_numbers_come_back_with_64_bits_and_are_narrowed_where_asked() -> None:
    entry = OffsetManagerEntry({"k": "v"}, {"small": 2**31 - 1, "large": 2**31})
    assert entry.get_int("small") == entry.get_integer("small") == 2**31 - 1
    assert entry.get_long("large") == 2**31
    for getter in (entry.get_int, entry.get_integer):
        with pytest.raises(OffsetError, match=r"'large'.*32 bits"):
            getter("large")
    for setter in (entry.set_int, entry.set_integer):
        with pytest.raises(OffsetError, match=r"'small'.*32 bits"):
            setter("small", 2**31)
    assert entry.get_int("absent") is None


def test_typed_getters_and_setters() -> None:
    entry = OffsetManagerEntry({"k": "v"})
    entry.set_string("text", "a")
    entry.set_bool("flag", True)
    entry.set_float("share", 1)
    entry.set_long("many", 2**40)
    assert entry.get_string("text") == "a"
    assert entry.get_bool("flag") is True
    assert entry.get_float("share") == 1.0
    assert entry.get_float("many") == float(2**40)
    for wrong in (entry.get_string, entry.get_bool):
        with pytest.raises(OffsetError, match="'many'"):
            wrong("many")
    with pytest.raises(OffsetError, match="'flag' is expected to be a whole number, not True"):
        entry.get_long("flag")
    with pytest.raises(OffsetError, match="'recordCount' is expected to be a whole number"):
        OffsetManagerEntry({"k": "v"}, {"recordCount": "3"})


def test_the_record_count_has_methods_of_its_own() -> None:
    entry = OffsetManagerEntry({"k": "v"}, {"recordCount": 4})
    entry.increment_record_count()
    assert entry.record_count == entry.get_long("recordCount") == 5
    with pytest.raises(OffsetError, match="recordCount has a method of its own"):
        entry.set_property("recordCount", 1)


def test_entries_are_ordered_by_key_then_by_records() -> None:
    entries = [
        OffsetManagerEntry({"k": key}, {"recordCount": count})
        for key, count in (("b", 0), ("a", 10), ("a", 9))
    ]
    shown = [(e.get_manager_key().partition["k"], e.record_count) for e in sorted(entries)]
    assert shown == [("a", 9), ("a", 10), ("b", 0)]


def test_each_record_carries_its_own_state() -> None:
    entry = S3OffsetManagerEntry("shop", "orders/1.jsonl")
    records = []
    for number in range(3):
        entry.increment_record_count()
        value = SchemaAndValue(Schema.int64(), number)
        records.append(entry.source_record("t", SchemaAndValue(Schema.string(), "k"), value))
    assert [r.source_offset for r in records] == [{"recordCount": n} for n in (1, 2, 3)]
    assert {json.dumps(r.source_partition) for r in records} == {
        '{"bucket": "shop", "objectKey": "orders/1.jsonl"}'
    }
    assert (records[1].key, records[1].key_schema) == ("k", Schema.string())


def test_the_entry_of_an_object_in_s3() -> None:
    entry = S3OffsetManagerEntry("shop", "orders/1.jsonl")
    assert (entry.bucket, entry.object_key) == ("shop", "orders/1.jsonl")
    assert not entry.is_done("e1")
    entry.set_done("e1")
    again = S3OffsetManagerEntry("shop", "orders/1.jsonl", entry.get_properties())
    assert again.is_done("e1")
    assert not again.is_done("e2")
    assert again.from_properties({}).bucket == "shop"
