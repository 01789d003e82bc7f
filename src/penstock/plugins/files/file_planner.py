"""Divides a pattern's files among the tasks, again before each turn."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from penstock.plugins.files.file_offsets import position_in
from penstock.plugins.files.file_share import STRATEGY
from penstock.sdk.distribution.strategy import ObjectDistributionStrategy, Share, checksum
from penstock.sdk.errors import UserError
from penstock.sdk.objects import StoredObject
from penstock.sdk.offsets import OffsetReader


class FilePlanner:
    """Divides by a strategy; keeps files that made one task fail away from the others.

    A FAILED task keeps its files until it is restarted. To keep readable files out of that, files
    that cannot be read get a separate task, if there are two or more tasks: it fails and names
    one of them, and the other tasks continue. Once a task has failed, unreadable files are given
    to no task: the failure is already visible.
    """

    def __init__(self, strategy: ObjectDistributionStrategy = STRATEGY) -> None:
        self._strategy = strategy
        self._dealt: dict[int, frozenset[str]] = {}
        self.held: frozenset[str] = frozenset()
        """The files that no task reads until the failed ones are restarted."""

    def plan(self, left: Mapping[str, int], tasks: Sequence[int]) -> list[Share]:
        """A share for each of ``tasks``; ``left`` is the number of bytes to read in each file."""
        kept = _all(files for task, files in self._dealt.items() if task not in tasks)
        refused = frozenset(path for path in left if not os.access(path, os.R_OK)) - kept
        self.held = kept | refused if kept else kept
        readable = {path: n for path, n in left.items() if path not in self.held | refused}
        apart = refused - self.held
        if apart and len(tasks) > 1:
            dealt = [*self._divided(readable, len(tasks) - 1), apart]
        else:
            dealt = self._divided({p: left[p] for p in {*readable, *apart}}, len(tasks))
        self._dealt.update(zip(tasks, dealt, strict=True))
        planned = frozenset(map(checksum, self.held.union(left)))
        return [Share(index, len(tasks), files, planned) for index, files in enumerate(dealt)]

    def _divided(self, left: Mapping[str, int], tasks: int) -> list[frozenset[str]]:
        files = [StoredObject(path, count) for path, count in left.items()]
        return [share.mine for share in self._strategy.plan(files, range(tasks), tasks)]


def _all(groups: Iterable[Iterable[str]]) -> frozenset[str]:
    return frozenset(path for group in groups for path in group)


def bytes_after(offsets: OffsetReader, path: str) -> int:
    """How much of ``path`` is left to read; 0 if only a task can find out."""
    try:
        size, position = Path(path).stat().st_size, position_in(offsets, path)
    except (OSError, UserError):
        return 0
    return size - position if size >= position else size
