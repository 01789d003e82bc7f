"""Which worker runs which connector."""

from __future__ import annotations

from collections.abc import Collection, Mapping


def balanced(
    connectors: Collection[str], workers: Collection[str], now: Mapping[str, str]
) -> dict[str, str]:
    """A worker for every connector; the numbers per worker differ by at most one.

    Of the present assignments ``now``, only as many change as necessary: those of workers that are
    gone, and enough others to balance.
    """
    if not workers:
        return {}
    kept = _kept(connectors, sorted(workers), now)
    homeless = sorted(set(connectors).difference(*kept.values()))
    for name in homeless:
        _least(kept).append(name)
    while len(most := _most(kept)) > len(least := _least(kept)) + 1:
        least.append(most.pop())
    return {name: worker for worker, names in kept.items() for name in names}


def _kept(
    connectors: Collection[str], workers: Collection[str], now: Mapping[str, str]
) -> dict[str, list[str]]:
    kept: dict[str, list[str]] = {worker: [] for worker in workers}
    for name in sorted(connectors):
        if now.get(name) in kept:
            kept[now[name]].append(name)
    return kept


def _least(kept: Mapping[str, list[str]]) -> list[str]:
    return min(kept.values(), key=len)


def _most(kept: Mapping[str, list[str]]) -> list[str]:
    return max(kept.values(), key=len)
