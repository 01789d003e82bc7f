"""Orders and figures of rounds."""

import pytest

from bench.rounds import Comparison, interleaved, median, order, percentile, spread


def test_every_side_is_measured_in_every_round_and_the_order_alternates():
    seen: list[str] = []

    def measured(side: str) -> float:
        seen.append(side)
        return float(len(seen))

    figures = interleaved(
        3, {"ours": lambda: measured("ours"), "theirs": lambda: measured("theirs")}, lambda _: None
    )
    assert seen == ["ours", "theirs", "theirs", "ours", "ours", "theirs"]
    assert figures == {"ours": [1.0, 4.0, 5.0], "theirs": [2.0, 3.0, 6.0]}


def test_the_order_of_three_sides():
    assert order(["a", "b", "c"], 0) == ["a", "b", "c"]
    assert order(["a", "b", "c"], 1) == ["c", "b", "a"]


def test_spread_is_the_range_as_a_part_of_the_median():
    assert median([90.0, 130.0, 100.0]) == 100.0
    assert spread([90.0, 130.0, 100.0]) == pytest.approx(0.4)
    assert spread([0.0, 0.0]) == 0.0


@pytest.mark.parametrize(("part", "expected"), [(0.0, 1.0), (0.5, 2.5), (0.9, 3.7), (1.0, 4.0)])
def test_percentiles_lie_between_samples(part, expected):
    assert percentile([4.0, 1.0, 3.0, 2.0], part) == pytest.approx(expected)


def test_a_percentile_of_one_sample_is_that_sample():
    assert percentile([7.0], 0.95) == 7.0


def test_the_ratio_is_that_of_the_medians_and_the_rounds_are_told_beside_it():
    comparison = Comparison.of([200.0, 400.0, 300.0], [100.0, 100.0, 200.0])
    assert comparison.ratio == pytest.approx(3.0)
    assert comparison.per_round == pytest.approx((2.0, 4.0, 1.5))


def test_nothing_is_infinitely_less_than_something():
    assert Comparison.of([1.0], [0.0]).ratio == float("inf")


def test_rounds_of_different_number_are_refused():
    with pytest.raises(ValueError, match="shorter"):
        Comparison.of([1.0, 2.0], [1.0])
