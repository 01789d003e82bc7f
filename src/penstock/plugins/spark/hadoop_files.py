"""Files of any file system that Spark has, listed in the order of their names."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from penstock.plugins.files.file_jail import Jail
from penstock.plugins.objects.stored_objects import ListedObject
from penstock.sdk.errors import RetriableError, UserError

Page = list[ListedObject]
Status = tuple[str, bool, int, int]
"""The whole path, whether it is a folder, its size, and when it was changed, in milliseconds."""
PAGE: Final = 1000
GLOB: Final = re.compile(r"[*?\[{]")
PRINTED: Final = re.compile(
    r"\w*FileStatus\{path=(.*?); isDirectory=(true|false)(?:; length=(\d+); .*?)?"
    r"; modification_time=(-?\d+);",
    re.DOTALL,
)
"""What Hadoop prints of a file: a folder is one call this way, and four for each file otherwise."""
PERSON: Final = (
    "FileNotFoundException",
    "AccessControlException",
    "AccessDeniedException",
    "NotDirectoryException",
    "UnsupportedFileSystemException",
    "ClassNotFoundException",
    "IllegalArgumentException",
)
"""Of Java's errors, those that waiting does not get over."""


class HadoopFiles:
    """The files of a folder with its folders, of a pattern, or one file.

    Keys are paths relative to the folder, or to the folders of a pattern before its first special
    character. Empty files are left out, and names that begin with ``_`` or ``.``, as Spark leaves
    them out.
    """

    def __init__(self, path: str, jail: Jail) -> None:
        """It may not exist: that is not checked yet."""
        self._path = path
        self._jail = jail
        self._spark: Any = None
        self._base = ""

    def use(self, spark: Any) -> None:
        """The session whose file systems are asked from now on. UserError, RetriableError."""
        if spark is self._spark:
            return
        with plain_errors(self._path):
            self._java = spark._jvm
            hadoop = spark._jsparkSession.sessionState().newHadoopConf()
            base = self._java.org.apache.hadoop.fs.Path(folder_of(self._path))
            self._system = base.getFileSystem(hadoop)
            self._base = str(self._system.makeQualified(base).toString()).rstrip("/")
        self._spark = spark

    def address(self, key: str) -> str:
        """The whole path of a file."""
        return f"{self._base}/{key}" if key else self._base

    def encoded(self, key: str) -> str:
        """As Spark names the file in the rows that it reads."""
        path = self._java.org.apache.hadoop.fs.Path(self.address(key))
        return comparable(str(path.toUri().toString()))

    def find(self, key: str) -> ListedObject | None:
        """The file as it is now, if it is there."""
        with plain_errors(self._path):
            path = self._java.org.apache.hadoop.fs.Path(self.address(key))
            if not self._system.exists(path):
                return None
            return next((each for each in self._statuses(path) if each.key == key), None)

    def pages(self, after: str = "") -> Iterator[Page]:
        """All files with keys greater than ``after``, in the order of keys."""
        with plain_errors(self._path):
            found = sorted(each for each in self._all() if each.key > after and each.size)
        for first in range(0, len(found), PAGE):
            yield found[first : first + PAGE]

    def _all(self) -> Iterator[ListedObject]:
        for top in self._tops():
            yield from self._statuses(top)

    def _tops(self) -> list[Any]:
        """Where listing begins; UserError if there is nothing."""
        path = self._java.org.apache.hadoop.fs.Path(self._path)
        if not GLOB.search(self._path):
            if not self._system.exists(path):
                raise UserError(f"There is no {self._path}. Create it, or correct the path.")
            if self._system.getFileStatus(path).isFile():
                above = path.getParent()
                self._base = str(self._system.makeQualified(above).toString()).rstrip("/")
            return [self._system.makeQualified(path)]
        return [each.getPath() for each in self._system.globStatus(path) or ()]

    def _statuses(self, top: Any) -> Iterator[ListedObject]:
        """The file itself, or what is in the folder, and in its folders."""
        for path, is_folder, size, modified in self._listed(top):
            key = path[len(self._base) + 1 :]
            if is_folder:
                if not _hidden(key):
                    yield from self._statuses(self._java.org.apache.hadoop.fs.Path(path))
            elif not _hidden(key):
                self._check(path)
                yield ListedObject(key, size, modified, f"{size}-{modified}")

    def _listed(self, top: Any) -> Iterable[Status]:
        whole = str(top.toString())
        if whole.startswith("file:"):
            # Asked for more than their sizes, local files cost Hadoop a process each.
            return listed_here(whole)
        return self._listed_there(top)

    def _listed_there(self, top: Any) -> list[Status]:
        statuses = self._system.listStatus(top)
        text = str(self._java.org.apache.commons.lang3.ArrayUtils.toString(statuses))
        found = PRINTED.findall(text)
        if len(found) == len(statuses) == text.count("; isDirectory="):
            return [(p, d == "true", int(size or 0), int(at)) for p, d, size, at in found]
        return [
            (str(s.getPath().toString()), s.isDirectory(), s.getLen(), s.getModificationTime())
            for s in statuses
        ]

    def _check(self, path: str) -> None:
        if path.startswith("file:"):
            self._jail.check(local(path))


def local(path: str) -> str:
    """The path of this machine in Hadoop's form of it."""
    return path.removeprefix("file://").removeprefix("file:")


def on_this_machine(path: str) -> str | None:
    """What Hadoop takes a path or URL for; None if that is another file system's.

    It decodes nothing, no character ends a path, and ``..`` is the folder above, links or not.
    """
    scheme, colon, rest = path.partition(":")
    if not colon or "/" in scheme:
        scheme, rest = "", path
    if scheme.lower() not in ("", "file"):
        return None
    if rest.startswith("//") and len(rest) > 2:
        rest = "/" + rest[2:].partition("/")[2]
    return os.path.normpath(rest)


def listed_here(path: str) -> Iterator[Status]:
    """What is in a folder of this machine, or the file itself. UserError if that is not allowed."""
    try:
        for found in _entries(Path(local(path))):
            with contextlib.suppress(FileNotFoundError):  # it has just gone, or is a broken link
                status = found.stat()
                is_folder = stat.S_ISDIR(status.st_mode)
                modified = status.st_mtime_ns // 1_000_000
                yield f"file:{found}", is_folder, status.st_size, modified
    except OSError as error:
        raise UserError(f"{local(path)} cannot be read: {error.strerror}") from None


def _entries(path: Path) -> list[Path]:
    return list(path.iterdir()) if path.is_dir() else [path]


def folder_of(path: str) -> str:
    """The folder itself; of a pattern, the one above its first special character."""
    found = GLOB.search(path)
    if found is None:
        return path
    above = path[: found.start()].rpartition("/")[0]
    return above or ("/" if path.startswith("/") else ".")


def comparable(address: str) -> str:
    """Two spellings of a file's address are equal: ``file:/a`` and ``file:///a``."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}{parts.path}"


def _hidden(key: str) -> bool:
    """Spark leaves these out without a word, also where they are given by name."""
    name = key.rpartition("/")[2]
    beginning = name.startswith(".") or (name.startswith("_") and "=" not in name)
    return beginning or name.endswith("._COPYING_")


@contextmanager
def plain_errors(path: str) -> Iterator[None]:
    """Java's errors, in a sentence: UserError if a person has to act, otherwise RetriableError."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import IllegalArgumentException

    try:
        yield
    except IllegalArgumentException as error:
        raise UserError(f"{path} cannot be read: {str(error).splitlines()[0]}") from None
    except Py4JJavaError as error:
        kind = str(error.java_exception.getClass().getSimpleName())
        text = str(error.java_exception.getMessage() or kind).splitlines()[0]
        if kind in PERSON or text.startswith("No FileSystem for scheme"):
            raise UserError(f"{path} cannot be read: {text}") from None
        raise RetriableError(f"{path} cannot be listed: {text}") from None
