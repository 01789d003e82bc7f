"""The offset manager gives the newest state: of records made, or what is committed."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from penstock.sdk import (
    OffsetManager,
    OffsetManagerEntry,
    OffsetManagerKey,
    OffsetReader,
    SourcePartition,
    SourceRecord,
)

A, B = OffsetManagerKey({"file": "a"}), OffsetManagerKey({"file": "b"})


class CountingStore(OffsetReader):
    """Counts how often it is asked."""

    def __init__(self, offsets: list[tuple[SourcePartition, dict[str, Any]]]) -> None:
        super().__init__(offsets)
        self.questions: list[int] = []

    def get_many(self, partitions: Collection[SourcePartition]) -> list[dict[str, Any] | None]:
        self.questions.append(len(partitions))
        return super().get_many(partitions)


def count_of(manager: OffsetManager, key: OffsetManagerKey) -> int | None:
    entry = manager.get_entry(key, OffsetManagerEntry(key).from_properties)
    return None if entry is None else entry.record_count


def entry(key: OffsetManagerKey, count: int) -> OffsetManagerEntry:
    return OffsetManagerEntry(key, {"recordCount": count})


def test_nothing_found_is_none() -> None:
    assert OffsetManager(OffsetReader()).get_entry(A, dict) is None


def test_the_factory_gets_a_copy() -> None:
    manager = OffsetManager(OffsetReader([({"file": "a"}, {"recordCount": 3})]))
    found = manager.get_entry(A, lambda properties: properties)
    assert found == {"recordCount": 3}
    found["recordCount"] = 9
    assert count_of(manager, A) == 3


def test_many_keys_take_one_look_up() -> None:
    keys = [OffsetManagerKey({"file": str(n)}) for n in range(100)]
    store = CountingStore([(keys[7].partition, {"recordCount": 7})])
    manager = OffsetManager(store)
    manager.populate_offset_manager(keys)
    assert [count_of(manager, key) for key in keys] == [None] * 7 + [7] + [None] * 92
    assert store.questions == [100]


def test_an_entry_added_is_newer_than_what_is_committed_until_it_is_removed() -> None:
    manager = OffsetManager(OffsetReader([({"file": "a"}, {"recordCount": 3})]))
    manager.add_entry(entry(A, 5))
    assert count_of(manager, A) == 5
    manager.remove(A)
    assert count_of(manager, A) == 3
    manager.add_entry(entry(A, 6))
    manager.remove(SourceRecord({"file": "a"}, {"recordCount": 6}, "t", "v"))
    assert count_of(manager, A) == 3


def test_a_commit_is_what_is_found_after_remove() -> None:
    manager = OffsetManager(OffsetReader())
    manager.add_entry(entry(A, 5))
    manager.committed([({"file": "a"}, {"recordCount": 5})])
    manager.remove(A)
    assert count_of(manager, A) == 5


def test_a_commit_of_earlier_records_does_not_hide_later_ones() -> None:
    """Else an iterator would make these records a second time."""
    manager = OffsetManager(OffsetReader())
    for count in (5, 9):
        manager.add_entry(entry(A, count))
    manager.add_entry(entry(B, 1))
    manager.committed([({"file": "a"}, {"recordCount": 5})])
    assert (count_of(manager, A), count_of(manager, B)) == (9, 1)
    manager.remove(A)
    assert count_of(manager, A) == 5


class Newest(RuleBasedStateMachine):
    """Whatever is made and committed, in order: the newest state of each object is found."""

    def __init__(self) -> None:
        super().__init__()
        self.manager = OffsetManager(OffsetReader([(A.partition, {"recordCount": 1})]))
        self.made = {A: 1, B: 0}
        self.pending: list[tuple[OffsetManagerKey, int]] = []

    @rule(key=st.sampled_from([A, B]))
    def make(self, key: OffsetManagerKey) -> None:
        self.made[key] += 1
        self.manager.add_entry(entry(key, self.made[key]))
        self.pending.append((key, self.made[key]))

    @rule(share=st.floats(0, 1))
    def commit(self, share: float) -> None:
        cut = round(len(self.pending) * share)
        batch, self.pending = dict(self.pending[:cut]), self.pending[cut:]
        offsets = [(key.partition, {"recordCount": count}) for key, count in batch.items()]
        self.manager.committed(offsets)

    @rule(key=st.sampled_from([A, B]))
    def populate(self, key: OffsetManagerKey) -> None:
        self.manager.populate_offset_manager([key])

    @invariant()
    def newest_is_found(self) -> None:
        assert [count_of(self.manager, key) or 0 for key in (A, B)] == [self.made[A], self.made[B]]


TestNewest = Newest.TestCase
