"""How long a lease waits for records while there are none."""

from __future__ import annotations

import pytest

from penstock.engine.lease.pauses import Pauses


@pytest.mark.parametrize(
    ("leases", "expected"),
    [
        (1, [0.05, 0.05, 0.05, 0.05]),
        (40, [0.05, 0.1, 0.1, 0.1]),
        (1000, [0.05, 0.1, 0.2, 0.25]),
    ],
)
def test_pauses_grow_with_the_leases_of_the_process(leases: int, expected: list[float]) -> None:
    pauses = Pauses(0.05, lambda: leases)
    assert [pauses.after(dry=True) for _ in expected] == expected
    assert pauses.after(dry=False) == 0.05
    assert pauses.after(dry=True) == expected[1]
