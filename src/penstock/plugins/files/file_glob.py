"""The regular files that match a pattern, found as a shell would find them."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

FOLDERS: Final = "**"
_MAGIC: Final = re.compile(r"[*?[]")

Part = re.Pattern[str] | None
"""What one name of the path must match; None stands for any number of folders."""


class FileGlob:
    """``*``, ``?`` and ``[…]`` match within one name of the path, ``**`` any number of folders.

    As in a shell, a leading dot must be written to be matched. ``**`` does not follow links to
    folders, which may form cycles. A name that is not UTF-8 cannot be a source partition and is
    skipped, as is a folder that may not be listed; if that is the folder before the first
    wildcard, ``names`` raises its ``OSError``.
    """

    def __init__(self, pattern: str) -> None:
        names = pattern.split("/")
        fixed = next((n for n, name in enumerate(names) if _MAGIC.search(name)), len(names) - 1)
        self.folder = "".join(f"{name}/" for name in names[:fixed])
        """The part of the path before the first wildcard, as written."""
        self._parts = _parts(names[fixed:])

    def names(self) -> list[str]:
        """The paths that match now, in order."""
        try:
            with os.scandir(self.folder or "."):
                pass
        except (FileNotFoundError, NotADirectoryError):
            return []
        return sorted(set(_found(self.folder, self._parts)))


def _parts(names: Sequence[str]) -> list[Part]:
    parts = [_part(name) for name in names if name]
    return parts if parts and parts[-1] else [*parts, _part("*")]


def _part(name: str) -> Part:
    if name == FOLDERS:
        return None
    visible = "" if name.startswith(".") else r"(?!\.)"
    return re.compile(visible + fnmatch.translate(name))


def _found(folder: str, parts: Sequence[Part]) -> Iterator[str]:
    part, rest = parts[0], parts[1:]
    if part is None:
        yield from _found(folder, rest)
        yield from _found_below(folder, parts)
        return
    for entry in _listed(folder):
        if not part.match(entry.name):
            continue
        path = folder + entry.name
        if not rest and _holds(entry.is_file) and _is_utf8(path):
            yield path
        elif rest and _holds(entry.is_dir):
            yield from _found(f"{path}/", rest)


def _found_below(folder: str, parts: Sequence[Part]) -> Iterator[str]:
    for entry in _listed(folder):
        if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False):
            yield from _found(f"{folder}{entry.name}/", parts)


def _listed(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder or ".") as entries:
            return list(entries)
    except OSError:
        return []


def _holds(question: Callable[[], bool]) -> bool:
    """A broken link, or one to a place that may not be read, is neither file nor folder."""
    try:
        return question()
    except OSError:
        return False


def _is_utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
