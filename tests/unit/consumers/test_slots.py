"""Which members of a group are in each other's way."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.consumers.slots import Slot

slots = st.builds(
    Slot,
    st.text("abc.-_0", min_size=1, max_size=5),
    st.frozensets(st.integers(0, 9), max_size=3),
)


@given(slots)
def test_a_slot_is_read_as_it_was_written(slot: Slot) -> None:
    assert Slot.parse(str(slot)) == slot


@given(slots, slots)
def test_slots_overlap_both_ways_exactly_where_a_partition_is_covered_twice(
    one: Slot, other: Slot
) -> None:
    both = any(one.covers(p) and other.covers(p) for p in range(10))
    assert one.overlaps(other) == other.overlaps(one) == (one.topic == other.topic and both)


@pytest.mark.parametrize("text", ["", "/0", "orders/x", "orders/1,,2", "orders/-1"])
def test_the_name_of_something_else(text: str) -> None:
    assert Slot.parse(text) is None
