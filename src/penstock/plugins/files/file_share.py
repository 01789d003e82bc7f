"""Which files of a pattern are read by which task during a turn.

Every line is read once, although files move to other tasks between turns and appear in the middle
of one. Within a turn a file has one reader: all its leases have the same plan, which gives a file
to one task at most, and files outside the plan are assigned by a rule that depends only on that
plan and the file's name. Between two turns there is no reader: the worker plans the next turn only
after every lease of the last has reported its end, or was fenced and its positions read again. So
a file's next reader starts where the commits of its last reader end.
"""

from __future__ import annotations

import os
from typing import Final

from penstock.sdk.distribution.by_bytes import BytesLeft
from penstock.sdk.distribution.strategy import Share

SHARE: Final = "file.glob.share"
"""Key of a lease's share; set again for every turn, and never stored."""

STRATEGY: Final = BytesLeft()
"""By bytes left to read, and by name what appears after the plan was made."""


def reads(share: Share, path: str) -> bool:
    """Whether the task with this share reads ``path``.

    A file outside the plan that cannot be read is left to the next plan: see ``FilePlanner``.
    """
    return share.owns(path, STRATEGY) and (path in share.mine or os.access(path, os.R_OK))
