"""Which worker runs which connector."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from penstock.runtime.cluster.balance import balanced

names = st.sets(st.integers(0, 40).map(lambda n: f"c{n}"))
workers = st.sets(st.sampled_from("ABCDE"), min_size=1)
assignments = st.dictionaries(
    st.integers(0, 40).map(lambda n: f"c{n}"), st.sampled_from("ABCDEXYZ")
)


@given(names, workers, assignments)
def test_everyone_has_as_much_as_anyone_else(
    connectors: set[str], alive: set[str], now: dict[str, str]
) -> None:
    wanted = balanced(connectors, alive, now)
    load = Counter(wanted.values())
    counts = [load[worker] for worker in alive]
    assert set(wanted) == connectors
    assert set(load) <= alive
    assert max(counts) - min(counts) <= 1


@given(names, workers, assignments)
def test_only_what_must_move_moves(
    connectors: set[str], alive: set[str], now: dict[str, str]
) -> None:
    """Those without a worker, and what somebody has beyond the largest share."""
    wanted = balanced(connectors, alive, now)
    kept = {name: now[name] for name in connectors if now.get(name) in alive}
    moved = [name for name, worker in kept.items() if wanted[name] != worker]
    load = Counter(kept.values())
    floor, larger = divmod(len(connectors), len(alive))
    shares = sorted(([floor + 1] * larger + [floor] * (len(alive) - larger)), reverse=True)
    loads = sorted((load[worker] for worker in alive), reverse=True)
    beyond = sum(max(0, has - share) for has, share in zip(loads, shares, strict=True))
    assert len(moved) == beyond


@given(names, workers)
def test_what_is_balanced_stays(connectors: set[str], alive: set[str]) -> None:
    wanted = balanced(connectors, alive, {})
    assert balanced(connectors, alive, wanted) == wanted


def test_without_a_worker_nobody_runs_anything() -> None:
    assert balanced({"a"}, (), {}) == {}
