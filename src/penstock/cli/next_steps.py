"""What to do after an error: an error of ours says so itself, one of the system by its number."""

from __future__ import annotations

import errno

RIGHTS = "Choose another path, or ask its owner for the rights."
OF_SYSTEM = {
    errno.EACCES: RIGHTS,
    errno.EPERM: RIGHTS,
    errno.EROFS: "Choose a path that can be written to.",
    errno.ENOSPC: "Free some space, or choose another folder, e.g. with --data-dir.",
    errno.ENOENT: "Check the path.",
    errno.ENOTDIR: "A part of this path is a file: choose another.",
    errno.EMFILE: "Raise the limit of open files (`ulimit -n`).",
}


def next_step(error: Exception) -> str:
    """A sentence for the user; empty where there is no more to say."""
    if isinstance(error, OSError):
        return OF_SYSTEM.get(error.errno or 0, "")
    return str(getattr(error, "next_step", ""))
