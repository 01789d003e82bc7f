"""The list of rows, and what a run of usual size is."""

from bench.bounds import BOUNDS
from bench.rows import FAMILIES, ROWS
from bench.scale import Scale


def test_every_row_has_a_place_for_what_bounds_it():
    assert list(BOUNDS) == list(ROWS)


def test_no_two_rows_share_a_name():
    assert len(ROWS) == sum(len(family.ROWS) for family in FAMILIES)


def test_a_run_is_of_usual_size_only_with_the_usual_sizes_and_rounds():
    assert Scale.of(1.0, 3) == Scale()
    assert Scale.of(1.0, 1) != Scale()
    assert Scale.of(0.1, 3).lines == Scale().lines // 10
