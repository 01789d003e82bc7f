"""Which file systems tell this machine of every change of a file."""

from __future__ import annotations

import ctypes
import os
from typing import Final

LOCAL: Final = frozenset(
    {
        0xEF53,  # ext2 to ext4
        0x58465342,  # XFS
        0x9123683E,  # Btrfs
        0x01021994,  # tmpfs
        0x2FC12FC1,  # ZFS
        0xF2F52010,  # F2FS
    }
)
"""Network file systems tell nothing of what other machines write, and a container's overlay nothing
of what is copied up to be written: those are looked at, as are all that are not known here."""
LARGE_ENOUGH: Final = 512


def tells_changes(path: str) -> bool:
    """Whether the system tells of every change of this file; False if there is no such file."""
    found = ctypes.create_string_buffer(LARGE_ENOUGH)
    try:
        failed = ctypes.CDLL(None).statfs(os.fsencode(path), found)
    except AttributeError:  # not Linux
        return False
    kind = ctypes.c_long.from_buffer(found).value
    return not failed and kind & 0xFFFF_FFFF in LOCAL
