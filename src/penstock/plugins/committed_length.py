"""How long a sink's file was when its offsets were committed, as the metadata of that commit.

The file and the offsets cannot be written in one step. The committed length tells the next task
how much of the file belongs to committed offsets; whatever stands behind it is to be written again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from penstock.sdk.tasks import Assignment


@dataclass(frozen=True)
class CommittedLength:
    """The length of a file whose inode is ``inode`` and whose last bytes had checksum ``tail``.

    The checksum is there because a deleted file's inode number may soon belong to a stranger's
    file, which must not be cut. None, in metadata of another origin, fits any file.
    """

    length: int
    inode: int
    tail: int | None = None

    def text(self) -> str:
        """The metadata to commit."""
        return json.dumps(asdict(self), separators=(",", ":"))


def newest(assignments: Iterable[Assignment], inode: int) -> CommittedLength | None:
    """What the last commit of this file said; None if no commit is known.

    A commit carries the same text for each partition that took part in it, and the file only
    grows, so the greatest length is the newest. Right only when the assignments are all the
    partitions of all who write to the file.
    """
    lengths = (_parsed(assignment.metadata) for assignment in assignments)
    ours = (found for found in lengths if found is not None and found.inode == inode)
    return max(ours, key=lambda found: found.length, default=None)


def _parsed(metadata: str) -> CommittedLength | None:
    try:
        fields = json.loads(metadata)
        found = CommittedLength(fields["length"], fields["inode"], fields.get("tail"))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    sound = _is_count(found.length) and _is_count(found.inode)
    return found if sound and (found.tail is None or _is_count(found.tail)) else None


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
