"""What is left of a table's first load, told from what is committed."""

from __future__ import annotations

from typing import Any

from penstock.plugins.databases import first_load
from penstock.plugins.databases.first_load import LoadRange, Merge, cut, load_of, without_loads
from penstock.plugins.databases.table_offsets import RowOffset, table_partition
from penstock.plugins.databases.table_share import Work, from_text, to_text
from penstock.sdk import OffsetReader
from penstock.sdk.databases import TableId

TABLE = TableId("public", "orders")
RANGES = LoadRange(0, 3, 1, 300).siblings()


def _stored(*reached: tuple[int, int]) -> OffsetReader:
    """The offsets of some ranges."""
    return OffsetReader(
        (RANGES[index].partition(TABLE), RANGES[index].offset(RowOffset(number)))
        for index, number in reached
    )


def test_without_offsets_there_is_no_load() -> None:
    assert load_of(TABLE, OffsetReader(), wanted=True) is None


def test_one_range_tells_of_the_others() -> None:
    left = load_of(TABLE, _stored((1, 120)), wanted=True)
    assert left == RANGES
    at = [part.reached(TABLE, _stored((1, 120))).incrementing for part in RANGES]
    assert at == [0, 120, 200]


def test_ranges_that_are_read_are_left_out() -> None:
    assert load_of(TABLE, _stored((0, 100), (2, 250)), wanted=True) == RANGES[1:]


def test_all_read_is_the_end_of_the_load() -> None:
    merge = load_of(TABLE, _stored((0, 100), (1, 200), (2, 300)), wanted=True)
    assert isinstance(merge, Merge)
    changes = merge.changes(TABLE)
    assert changes[0] == (table_partition(TABLE), {"incrementing": 300})
    assert changes[1:] == [(part.partition(TABLE), None) for part in RANGES]


def test_an_offset_of_the_table_rules() -> None:
    offsets = OffsetReader([*_stored((0, 50)), (table_partition(TABLE), {"incrementing": 9})])
    merge = load_of(TABLE, offsets, wanted=True)
    assert isinstance(merge, Merge)
    assert merge.changes(TABLE) == [(RANGES[0].partition(TABLE), None)]


def test_ranges_of_another_table_are_not_its_own() -> None:
    assert load_of(TableId("public", "other"), _stored((0, 50)), wanted=True) is None


def test_altering_a_table_forgets_its_ranges_and_no_others() -> None:
    other = RANGES[0].partition(TableId("public", "other"))
    committed = OffsetReader([*_stored((0, 50), (1, 120)), (other, {"incrementing": 1})])
    moved: Any = [(table_partition(TABLE), {"incrementing": 3})]
    assert list(without_loads(committed, moved)) == [
        *moved,
        (RANGES[0].partition(TABLE), None),
        (RANGES[1].partition(TABLE), None),
    ]


def test_only_a_wide_table_is_cut() -> None:
    wide = first_load.WORTH_IT
    assert cut(None, None, 4) == []
    assert cut(1, wide, 4) == []
    assert len(cut(1, wide + 1, 4)) == 4
    assert cut(1, wide + 1, 1) == []


def test_shares_pass_through_a_configuration() -> None:
    share = [
        Work(TABLE),
        Work(TABLE, RANGES[1]),
        Work(TableId("", "t"), merge=Merge(7, [RANGES[0].partition(TABLE)])),
    ]
    assert from_text(to_text(share)) == share
