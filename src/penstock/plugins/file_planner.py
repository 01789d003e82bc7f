"""Deals a pattern's files out to the tasks, anew before each turn."""

from __future__ import annotations

import heapq
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from penstock.plugins.file_offsets import position_in
from penstock.plugins.file_share import Share, checksum
from penstock.sdk.errors import UserError
from penstock.sdk.offsets import OffsetReader

A_FILE: Final = 64 << 10
"""Bytes that a file counts for beyond those left in it, so that quiet files are spread too."""


class FilePlanner:
    """Balances by bytes left to read; keeps what made one task fail away from the others.

    As everywhere, a FAILED task keeps what it had until it is restarted. So that this is not many
    a good file, the files that cannot be read go to a task of their own, if there are two or more:
    it fails and names one of them, and the rest go on. Once a task has failed, files that cannot
    be read are left alone: people know already that something is wrong.
    """

    def __init__(self) -> None:
        self._dealt: dict[int, list[str]] = {}
        self.held: frozenset[str] = frozenset()
        """The files that no task reads until the failed ones are restarted."""

    def plan(self, left: Mapping[str, int], tasks: Sequence[int]) -> list[Share]:
        """A share for each of ``tasks``, given the bytes ``left`` to read in each file."""
        kept = _all(files for task, files in self._dealt.items() if task not in tasks)
        refused = frozenset(path for path in left if not os.access(path, os.R_OK)) - kept
        self.held = kept | refused if kept else kept
        dealt = _dealt({p: n for p, n in left.items() if p not in self.held}, refused, len(tasks))
        self._dealt.update(zip(tasks, dealt, strict=True))
        planned = frozenset(map(checksum, self.held.union(left)))
        return [
            Share(frozenset(files), planned, index, len(tasks)) for index, files in enumerate(dealt)
        ]


def _dealt(left: Mapping[str, int], refused: frozenset[str], tasks: int) -> list[list[str]]:
    apart = sorted(refused.intersection(left))
    if not apart or tasks == 1:
        return balanced(left, tasks)
    return [*balanced({p: n for p, n in left.items() if p not in refused}, tasks - 1), apart]


def balanced(left: Mapping[str, int], shares: int) -> list[list[str]]:
    """The largest first, each onto the share with the least so far."""
    dealt: list[list[str]] = [[] for _ in range(shares)]
    loads = [(0, index) for index in range(shares)]
    for path in sorted(left, key=lambda path: (-left[path], path)):
        load, index = loads[0]
        dealt[index].append(path)
        heapq.heapreplace(loads, (load + left[path] + A_FILE, index))
    return dealt


def _all(groups: Iterable[Iterable[str]]) -> frozenset[str]:
    return frozenset(path for group in groups for path in group)


def bytes_after(offsets: OffsetReader, path: str) -> int:
    """How much of ``path`` is left to read; 0 if only a task can tell."""
    try:
        size, position = Path(path).stat().st_size, position_in(offsets, path)
    except (OSError, UserError):
        return 0
    return size - position if size >= position else size
