"""Balances tasks by how much there is left to read."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from penstock.sdk.distribution.by_rule import ObjectHash
from penstock.sdk.distribution.strategy import Share, checksum
from penstock.sdk.objects import StoredObject

AN_OBJECT: Final = 64 << 10
"""Bytes that an object counts for beyond those left in it, so that small ones are spread too."""


class BytesLeft(ObjectHash):
    """The largest objects first, each to the task with the least to do so far.

    Only tasks that may run get any. Objects that appear after the plan was made go by hash.
    """

    def plan(
        self, objects: Collection[StoredObject], tasks: Sequence[int], count: int
    ) -> list[Share]:
        """Shares of about as many bytes each."""
        dealt = balanced({each.name: each.bytes_left for each in objects}, len(tasks))
        planned = frozenset(checksum(each.name) for each in objects)
        return [
            Share(index, len(tasks), frozenset(names), planned) for index, names in enumerate(dealt)
        ]


def balanced(left: Mapping[str, int], shares: int) -> list[list[str]]:
    """Names dealt out by the bytes ``left`` in each, the same for the same arguments."""
    dealt: list[list[str]] = [[] for _ in range(shares)]
    loads = [(0, index) for index in range(shares)]
    for name in sorted(left, key=lambda name: (-left[name], name)):
        load, index = loads[0]
        dealt[index].append(name)
        heapq.heapreplace(loads, (load + left[name] + AN_OBJECT, index))
    return dealt
