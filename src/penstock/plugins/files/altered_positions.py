"""Checks the positions that a user sets against the files as they are now."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from penstock.plugins.files.file_choice import Files
from penstock.plugins.files.file_offsets import FILENAME, POSITION
from penstock.sdk.errors import OffsetError
from penstock.sdk.offsets import SourceOffset, SourcePartition

log = logging.getLogger(__name__)

MOST_NAMED: Final = 3


def check_positions(
    files: Files, changes: Sequence[tuple[SourcePartition | None, SourceOffset | None]]
) -> None:
    """``OffsetError`` for a position beyond the end of its file; a warning for files not read.

    Kafka Connect accepts both silently. A missing file may exist on another host.
    """
    wanted = {p[FILENAME]: o[POSITION] for p, o in changes if p is not None and o is not None}
    try:
        names = set(files.names())
    except OSError:
        return  # the tasks say what is wrong
    for path in sorted(names.intersection(wanted)):
        _refuse_beyond_end(path, wanted[path])
    unknown = [str(path) for path in wanted if path not in names]
    if unknown:
        log.warning(
            "offsets were set for %d files that this connector does not read; they have no effect "
            "until it does: %s",
            len(unknown),
            ", ".join(unknown[:MOST_NAMED] + ["..."] * (len(unknown) > MOST_NAMED)),
        )


def _refuse_beyond_end(path: str, position: int) -> None:
    try:
        size = Path(path).stat().st_size
    except OSError:
        return
    if position > size:
        raise OffsetError(
            f"{path} has {size} bytes: position {position} is beyond its end. Set a position up to "
            f"{size}, or null to start from the beginning."
        )
