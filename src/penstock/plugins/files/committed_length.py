"""The length of a sink's file when its offsets were committed, as metadata of that commit.

The file and the offsets cannot be written in one step. The committed length tells the next task
how much of the file belongs to committed offsets; anything after it will be written again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from penstock.sdk.tasks import Assignments, CommittedOffset


@dataclass(frozen=True)
class CommittedLength:
    """The length of a file whose inode is ``inode`` and whose last bytes had checksum ``tail``.

    The checksum is needed because a deleted file's inode number may soon belong to an unrelated
    file, which must not be truncated. None, in metadata from elsewhere, matches any file.
    """

    length: int
    inode: int
    tail: int | None = None

    def text(self) -> str:
        """The metadata to commit."""
        return json.dumps(asdict(self), separators=(",", ":"))


def newest(assignments: Assignments, inode: int) -> CommittedLength | None:
    """What the last commit of this file said; None if that is not known.

    A commit carries the same text for each of its partitions, and the file only grows, so the
    greatest length in the whole group is the newest, even in partitions that this task no longer
    has. That does not hold if something else, such as Kafka Connect, has committed since.
    """
    found = _greatest(assignments.committed, inode)
    ours = {(each.topic, each.partition) for each in assignments}
    mine = [each for each in assignments.committed if (each.topic, each.partition) in ours]
    foreign = any(_parsed(each.metadata) is None for each in mine)
    return None if foreign and found != _greatest(mine, inode) else found


def _greatest(commits: Sequence[CommittedOffset], inode: int) -> CommittedLength | None:
    lengths = (_parsed(commit.metadata) for commit in commits)
    found = (length for length in lengths if length is not None and length.inode == inode)
    return max(found, key=lambda length: length.length, default=None)


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
