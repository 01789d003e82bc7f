"""Which of the files that a pattern names are read by which task, for the length of a turn.

Every line is still read once, although files change hands between turns and appear in the middle
of one. Within a turn a file has one reader: all its leases know the same plan, which gives a file
to one task at most, and the files outside the plan are dealt out by a rule that needs nothing but
that plan and the file's name. Between two turns there is no reader at all: the worker plans the
next one only after every lease of the last has reported its end, or was fenced and its positions
read anew; so whoever is given a file next starts where its last reader's commits end.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from zlib import crc32

SHARE: Final = "file.glob.share"
"""Where a lease finds its share; written anew for every turn, and never stored."""


@dataclass(frozen=True)
class Share:
    """The files of one task, and enough of the plan to deal with files that appear later."""

    mine: frozenset[str]
    planned: frozenset[int]
    """Checksums of all files in the plan. A new file with the same one waits for the next plan."""
    index: int
    count: int
    """This is share ``index`` of ``count``."""

    def owns(self, path: str) -> bool:
        """Whether this task reads ``path``.

        A file outside the plan that cannot be read is left to the next plan: see ``FilePlanner``.
        """
        if path in self.mine:
            return True
        mark = checksum(path)
        new = mark not in self.planned and mark % self.count == self.index
        return new and os.access(path, os.R_OK)

    def to_config(self) -> dict[str, str]:
        """As a part of a lease's configuration."""
        parts = [sorted(self.mine), sorted(self.planned), self.index, self.count]
        return {SHARE: json.dumps(parts, ensure_ascii=False, separators=(",", ":"))}

    @staticmethod
    def from_config(config: Mapping[str, str]) -> Share | None:
        """What ``to_config`` has written; None for a task that need not share."""
        if SHARE not in config:
            return None
        mine, planned, index, count = json.loads(config[SHARE])
        return Share(frozenset(mine), frozenset(planned), index, count)


def checksum(path: str) -> int:
    """The same in every process, unlike ``hash``."""
    return crc32(path.encode())
