"""Where a table of Delta's was read to: the next file of a version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from penstock.sdk.errors import OffsetError
from penstock.sdk.offsets import SourceOffset, SourcePartition

TABLE: Final = "table"
VERSION: Final = "version"
INDEX: Final = "index"
ROWS: Final = "rows"
SNAPSHOT: Final = "snapshot"
FORM: Final = (
    'An offset of this source is {"version": 5, "index": 0}: the next file of that version of the '
    'table. "rows" of it may have been read. With "snapshot": true the files of the whole table as '
    "of that version are meant, and otherwise what the version has added. null begins with the "
    "whole table as it is now."
)


@dataclass(frozen=True)
class DeltaOffset:
    """What is read next."""

    version: int
    index: int = 0
    """The number of a file: of the version, as its log has them, or of the snapshot."""
    rows: int = 0
    """Rows of that file that were read."""
    snapshot: bool = False
    """Whether the whole table is read as of that version, and not what the version has added."""

    @classmethod
    def of(cls, offset: Mapping[str, Any] | None) -> DeltaOffset | None:
        """As stored; None if there is none."""
        if offset is None:
            return None
        return cls(
            offset[VERSION],
            offset.get(INDEX, 0),
            offset.get(ROWS, 0),
            bool(offset.get(SNAPSHOT, False)),
        )

    def to_json(self) -> SourceOffset:
        """As it is stored."""
        made: dict[str, Any] = {VERSION: self.version, INDEX: self.index}
        if self.rows:
            made[ROWS] = self.rows
        if self.snapshot:
            made[SNAPSHOT] = True
        return made


def delta_partition(path: str) -> SourcePartition:
    """The only source partition of a table."""
    return {TABLE: path}


def check_delta_offset(
    wanted: SourcePartition, partition: SourcePartition | None, offset: SourceOffset | None
) -> None:
    """OffsetError for what no turn could go on from; any partition may be removed."""
    if offset is None:
        return
    if partition != wanted:
        raise OffsetError(f"The only source partition of this connector is {dict(wanted)}.")
    numbers = [offset.get(VERSION), offset.get(INDEX, 0), offset.get(ROWS, 0)]
    whole = all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in numbers)
    known = offset.keys() <= {VERSION, INDEX, ROWS, SNAPSHOT}
    if not (whole and known and isinstance(offset.get(SNAPSHOT, False), bool)):
        raise OffsetError(FORM)
