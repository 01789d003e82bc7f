"""Where the last records of partitions begin.

Offsets alone do not tell: transactions leave markers, and what was aborted or compacted away has
left a gap. So the end of each partition is read, further and further back until there are enough.
Where that would take too long, offsets are counted after all.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from dataclasses import replace

from penstock.consumers.reading.progress import Offsets
from penstock.consumers.reading.reading import Plan, Reading

MOST = 10_000
"""Of more, only the offsets are counted: reading them twice would take too long."""
FURTHER = 4
PATIENCE = 0.1
SECONDS = 10.0


def starts_of_last(n: int, plan: Plan, first: Mapping[int, int]) -> Offsets:
    """Where the last ``n`` records before the stops of the plan begin; no earlier than ``first``.

    The plan says how to read; where it starts does not matter.
    """
    if not 0 < n <= MOST:
        return _back(n, plan.stops, first)
    found = {p: first[p] for p, stop in plan.stops.items() if stop - n <= first[p]}
    deadline = time.monotonic() + SECONDS
    span = n
    while left := {p: stop for p, stop in plan.stops.items() if p not in found}:
        begin = _back(span, left, first)
        seen = _last_offsets(n, replace(plan, starts=begin, stops=left), deadline)
        if seen is None:
            return _back(n, left, first) | found
        for p, offsets in seen.items():
            if len(offsets) == n or begin[p] == first[p]:
                found[p] = offsets[0] if offsets else first[p]
        span *= FURTHER
    return found


def _back(span: int, stops: Mapping[int, int], first: Mapping[int, int]) -> Offsets:
    return {p: max(stop - span, first[p]) for p, stop in stops.items()}


def _last_offsets(n: int, plan: Plan, deadline: float) -> dict[int, deque[int]] | None:
    """The offsets of the last ``n`` records of each partition that the plan reads; None if that
    takes too long."""
    seen: dict[int, deque[int]] = {p: deque(maxlen=n) for p in plan.starts}
    reading = Reading(plan)
    try:
        while not reading.finished:
            if time.monotonic() > deadline:
                return None
            for message in reading.take(PATIENCE).messages:
                seen[message.partition() or 0].append(message.offset() or 0)
    finally:
        reading.close()
    return seen
