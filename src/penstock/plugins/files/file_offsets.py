"""Offsets of a file source: ``{"filename": <file>}`` → ``{"position": <bytes read>}``.

They are Kafka Connect's, which can continue from them. A position may come with an ``identity``
(``file_identity.py``) of the file that it belongs to.
"""

from __future__ import annotations

from typing import Any, Final

from penstock.plugins.files.file_identity import FileIdentity
from penstock.sdk.errors import UserError
from penstock.sdk.offsets import OffsetReader, SourceOffset, SourcePartition

FILENAME: Final = "filename"
POSITION: Final = "position"
IDENTITY: Final = "identity"

_KEY_MISSING: Final = f"Offset objects should either be null or contain the key '{POSITION}'"
_VALUE: Final = f"The value for the '{POSITION}' key in the offset"
_LONG_END: Final = 1 << 63


def partition_of(path: str) -> dict[str, str]:
    """The one source partition of a file."""
    return {FILENAME: path}


def position_in(offsets: OffsetReader, path: str) -> int:
    """The committed position in ``path``: 0 if there is none, ``UserError`` if it is invalid."""
    return position_of(offsets.get(partition_of(path)))


def position_of(offset: SourceOffset | None) -> int:
    """The position in an offset: 0 without one, ``UserError`` if it is invalid."""
    if offset is None:
        return 0
    check_position(offset)
    return int(offset[POSITION])


def offset_of(position: int, identity: FileIdentity | None) -> dict[str, Any]:
    """The offset of a file read up to ``position``; its very start needs no identity."""
    if identity is None or not position:
        return {POSITION: position}
    return {POSITION: position, IDENTITY: identity.text()}


def identity_in(offsets: OffsetReader, path: str) -> FileIdentity | None:
    """Which file the committed position in ``path`` belongs to, if that is known."""
    return identity_of(offsets.get(partition_of(path)))


def identity_of(offset: SourceOffset | None) -> FileIdentity | None:
    """The identity in an offset, if it has one."""
    return None if offset is None else FileIdentity.parse(offset.get(IDENTITY))


def check_alteration(partition: SourcePartition | None, offset: SourceOffset | None) -> None:
    """Reject, in Kafka Connect's words, an offset that no file could have.

    Any partition may be reset (offset None): garbage must stay removable.
    """
    if offset is None:
        return
    check_position(offset)
    if partition is None:
        raise UserError("Partition objects cannot be null")
    if FILENAME not in partition:
        raise UserError(f"Partition objects should contain the key '{FILENAME}'")


def check_position(offset: SourceOffset) -> None:
    """``UserError`` unless ``offset`` holds a position that a file can have."""
    if POSITION not in offset:
        raise UserError(_KEY_MISSING)
    position = offset[POSITION]
    if not _is_long(position):
        raise UserError(f"{_VALUE} is expected to be a Long value")
    if position < 0:
        raise UserError(f"{_VALUE} should be a non-negative value")


def _is_long(value: Any) -> bool:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return whole and -_LONG_END <= value < _LONG_END
