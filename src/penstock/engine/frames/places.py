"""Where the output of turns is put: written aside, then in its place by one rename.

``<path>/_staging/<id>.<worker epoch>`` becomes ``<path>/turn=<id>``. If that exists, the turn has
happened. Nothing that is in place is ever deleted or overwritten: a worker that was frozen and goes
on later would delete what its successor has written. Spark leaves out ``_staging`` when it reads
``<path>``, and has the turn's id as column ``turn``.
"""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from penstock.engine.frames.errors import WriteError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STAGING = "_staging"
COLUMN = "turn"
"""What Spark makes of the names of turns' folders when it reads the path."""
ATOMIC = frozenset({"file", "hdfs", "viewfs", "webhdfs", "abfs", "abfss"})
"""File systems that rename a folder at once, or not at all."""


class Places(Protocol):
    """The places of one sink's turns. WriteError if the file system does not allow something."""

    def happened(self, turn: str) -> bool:
        """Whether the turn's output is in its place."""

    def staging(self, turn: str, worker_epoch: int) -> str:
        """A new folder's path, for Spark to write to; what an earlier try left there is gone."""

    def put(self, turn: str, worker_epoch: int) -> bool:
        """Put what was written in its place; False if another worker has done so before."""

    def clear(self, turn: str, worker_epoch: int) -> None:
        """Delete what this worker still has aside; and once the turn is in its place, what earlier
        ones have. Does what it can, and raises nothing."""


def places(spark: SparkSession, path: str) -> Places:
    """The places below ``path``: a URL of one of Hadoop's file systems, or a local folder, which
    all executors must share."""
    configured = spark._jsparkSession.sessionState().newHadoopConf()
    root = _java(spark).org.apache.hadoop.fs.Path(path)
    try:
        system = root.getFileSystem(configured)
        found = str(system.makeQualified(root).toString())
    except Exception as error:
        raise WriteError(f"{path} cannot be written: {_reason(error)}") from error
    if found.startswith("file:"):
        return LocalPlaces(Path(found.removeprefix("file://").removeprefix("file:")))
    return HadoopPlaces(spark, found)


def exactly_once(path: str) -> bool:
    """Whether a turn below ``path`` is written exactly once.

    Object stores rename by copying: a worker that dies, or is frozen, halfway through leaves a part
    in place. There, and in other file systems that are not known, it is at least once.
    """
    return (urlsplit(path).scheme or "file") in ATOMIC


class LocalPlaces:
    """In a folder that this process sees."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def happened(self, turn: str) -> bool:
        """Whether the turn's output is in its place."""
        return self._place(turn).exists()

    def _place(self, turn: str) -> Path:
        return self._root / f"{COLUMN}={turn}"

    def _aside(self, turn: str, worker_epoch: int) -> Path:
        return self._root / STAGING / f"{turn}.{worker_epoch}"

    def staging(self, turn: str, worker_epoch: int) -> str:
        """The worker's own folder for this turn."""
        aside = self._aside(turn, worker_epoch)
        try:
            aside.parent.mkdir(parents=True, exist_ok=True)
            if aside.exists():
                shutil.rmtree(aside)
        except OSError as error:
            raise WriteError(f"{self._root} cannot be written: {error.strerror}") from error
        return f"file:{aside}"  # not encoded: Hadoop decodes nothing

    def put(self, turn: str, worker_epoch: int) -> bool:
        """Rename it. The system refuses if the place exists: there is always a file in it."""
        aside = self._aside(turn, worker_epoch)
        try:
            (aside / "_SUCCESS").touch()
            aside.rename(self._place(turn))
        except OSError as error:
            if not self.happened(turn):
                raise WriteError(f"{self._root} cannot be written: {error.strerror}") from error
            return False
        return True

    def clear(self, turn: str, worker_epoch: int) -> None:
        """By the names of folders."""
        with contextlib.suppress(OSError):
            happened = self.happened(turn)
            for aside in (self._root / STAGING).iterdir():
                if _is_waste(aside.name, turn, worker_epoch, happened=happened):
                    shutil.rmtree(aside, ignore_errors=True)


class HadoopPlaces:
    """On one of Hadoop's file systems."""

    def __init__(self, spark: SparkSession, root: str) -> None:
        self._jvm = _java(spark)
        self._root = root
        configured = spark._jsparkSession.sessionState().newHadoopConf()
        path = self._jvm.org.apache.hadoop.fs.Path(root)
        self._context = self._jvm.org.apache.hadoop.fs.FileContext.getFileContext(
            path.toUri(), configured
        )

    def _path(self, *parts: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path("/".join([self._root, *parts]))

    def _aside(self, turn: str, worker_epoch: int) -> Any:
        return self._path(STAGING, f"{turn}.{worker_epoch}")

    def happened(self, turn: str) -> bool:
        """Whether the turn's output is in its place."""
        return bool(self._context.util().exists(self._path(f"{COLUMN}={turn}")))

    def staging(self, turn: str, worker_epoch: int) -> str:
        """The worker's own folder for this turn."""
        aside = self._aside(turn, worker_epoch)
        try:
            self._context.delete(aside, True)
            self._context.mkdir(aside.getParent(), None, True)
        except Exception as error:
            raise WriteError(f"{self._root} cannot be written: {_reason(error)}") from error
        return str(aside.toString())

    def put(self, turn: str, worker_epoch: int) -> bool:
        """Rename it; ``FileSystem.rename`` would put it *into* a folder that exists."""
        aside, place = self._aside(turn, worker_epoch), self._path(f"{COLUMN}={turn}")
        try:
            self._context.rename(aside, place, self._no_options())
        except Exception as error:
            if not self.happened(turn):
                raise WriteError(f"{self._root} cannot be written: {_reason(error)}") from error
            return False
        return True

    def clear(self, turn: str, worker_epoch: int) -> None:
        """By the names of folders."""
        with contextlib.suppress(Exception):
            happened = self.happened(turn)
            for status in self._context.util().listStatus(self._path(STAGING)):
                aside = status.getPath()
                if _is_waste(str(aside.getName()), turn, worker_epoch, happened=happened):
                    self._context.delete(aside, True)

    def _no_options(self) -> Any:
        """Of a rename: never overwrite."""
        rename = self._jvm.java.lang.Class.forName("org.apache.hadoop.fs.Options$Rename")
        return self._jvm.java.lang.reflect.Array.newInstance(rename, 0)


def _is_waste(name: str, turn: str, worker_epoch: int, *, happened: bool) -> bool:
    """Whether a folder with this name may be deleted. Of later workers none is: they may write."""
    whose, _, epoch = name.rpartition(".")
    if whose != turn or not epoch.isdecimal():
        return False
    return int(epoch) == worker_epoch or (happened and int(epoch) < worker_epoch)


def _java(spark: SparkSession) -> Any:
    return spark._jvm


def _reason(error: Exception) -> str:
    """The first line of a Java exception, without its trace."""
    told = getattr(error, "java_exception", None)
    return str(told.toString() if told is not None else error).splitlines()[0]
