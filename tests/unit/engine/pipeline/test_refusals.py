"""Bad rows are found in a few times as many rows as there are, whoever refuses how."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.engine.pipeline.refusals import refusals
from penstock.sdk.errors import RecordError

ROWS = 10_000


class Refusing:
    """Refuses a range for the first bad row in it, or for the last."""

    def __init__(self, bad: set[int], *, last: bool = False) -> None:
        self._bad, self._last = bad, last
        self.tried = self.calls = 0
        self.taken: list[int] = []

    def __call__(self, start: int, end: int) -> None:
        self.calls += 1
        self.tried += end - start
        wrong = [row for row in range(start, end) if row in self._bad]
        if wrong:
            raise RecordError("bad", row=wrong[-1 if self._last else 0] - start)
        self.taken += range(start, end)


@given(st.sets(st.integers(0, 59)), st.booleans())
def test_every_row_is_taken_once_or_refused_in_its_place(bad: set[int], last: bool) -> None:
    refusing = Refusing(bad, last=last)
    seen: list[tuple[int, int]] = []
    for row, error in refusals(60, refusing, RecordError):
        assert str(error) == "bad"
        seen.append((row, len(refusing.taken)))
    assert [row for row, _ in seen] == sorted(bad)
    assert refusing.taken == [row for row in range(60) if row not in bad]
    assert [before for _, before in seen] == [
        row - sum(each < row for each in bad) for row in sorted(bad)
    ]


@pytest.mark.parametrize(
    ("bad", "calls"),
    [
        (set[int](), 1),
        ({0}, 16),
        ({ROWS // 2}, 4),
        (set(range(0, ROWS, 100)), 12 * ROWS // 100),
        (set(range(0, ROWS, 2)), 2 * ROWS),
        (set(range(ROWS)), 1 + ROWS),
    ],
    ids=["none", "first", "middle", "each hundredth", "each second", "all"],
)
def test_what_it_costs_does_not_grow_with_the_square(bad: set[int], calls: int) -> None:
    refusing = Refusing(bad)
    assert len(list(refusals(ROWS, refusing, RecordError))) == len(bad)
    assert refusing.tried <= 4 * ROWS
    assert refusing.calls <= calls
