"""Turns the operating system's errors into messages for the user of a file connector."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from penstock.sdk.errors import (
    ConfigError,
    FatalError,
    OffsetError,
    PenstockError,
    RetriableError,
    UserError,
)

_FULL = {errno.ENOSPC, errno.EDQUOT}
_REFUSED = {errno.EACCES, errno.EPERM}
_BAD_PATH = {errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.EISDIR, errno.ENXIO}


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Turns an ``OSError`` into an error that says whether to wait or to act, and on which file."""
    try:
        yield
    except OSError as error:
        raise _of_reading(path, error) from error


@contextmanager
def writing(path: str) -> Iterator[None]:
    """As ``reading``. These errors lose nothing, since offsets are committed afterwards."""
    try:
        yield
    except OSError as error:
        raise _of_writing(path, error) from error


@contextmanager
def syncing(path: str) -> Iterator[None]:
    """As ``writing``, but never retriable.

    After a failed fsync the kernel drops the pages it could not write, so a second fsync would
    succeed although they are not on disk.
    """
    try:
        with writing(path):
            yield
    except RetriableError as error:
        raise FatalError(f"{error}. Restart the task once the disk is healthy") from error


def not_regular(path: str) -> UserError:
    """For a folder, pipe or device where a file is expected."""
    return UserError(f"{path} is not a regular file. Set 'file' to the path of a file.")


def beyond_the_end(path: str, position: int, size: int) -> UserError:
    """For a position beyond the end of the file."""
    return OffsetError(
        f"{path} has {size} bytes, but its offset is position {position}: the offset was set too "
        "far, or the file was truncated or replaced since. To continue, stop the connector, alter "
        f"the offset to a position up to {size} (null: from the beginning), resume it."
    )


def missing_file(purpose: str, standard_stream: str) -> str:
    """The message for a configuration without ``file``."""
    return (
        f'Missing required configuration "file": set it to the path of the file to {purpose}. '
        f"(Kafka Connect would use {standard_stream}, which a worker does not have.)"
    )


def required_path(path: str | None, message: str) -> str:
    """``path``, or ``ConfigError`` with ``message`` when there is none."""
    if not path:
        raise ConfigError(message, key="file")
    return path


def _of_reading(path: str, error: OSError) -> PenstockError:
    if error.errno in _REFUSED:
        return UserError(
            f"Cannot read {path}: permission denied. Let the user that runs the worker read the "
            "file and enter its folders, then restart the task."
        )
    return _bad_path(path, error) or RetriableError(f"Cannot read {path} at the moment: {error}")


def _of_writing(path: str, error: OSError) -> PenstockError:
    if error.errno in _FULL:
        return UserError(
            f"Cannot write {path}: the disk is full. Free some space, then restart the task; "
            "nothing is lost, since the records were not committed."
        )
    if error.errno in _REFUSED or error.errno == errno.EROFS:
        return UserError(
            f"Cannot write {path}: {error.strerror}. Let the user that runs the worker write the "
            "file and its folder, then restart the task."
        )
    if isinstance(error, FileNotFoundError):
        folder = Path(path).absolute().parent
        return UserError(
            f"Cannot write {path}: the folder {folder} does not exist. Create it or change 'file', "
            "then restart the task."
        )
    if error.errno == errno.EFBIG:
        return UserError(f"Cannot write {path}: the file has reached the largest size allowed.")
    return _bad_path(path, error) or RetriableError(f"Cannot write {path} at the moment: {error}")


def _bad_path(path: str, error: OSError) -> UserError | None:
    if error.errno == errno.EISDIR:
        return not_regular(path)
    if error.errno in _BAD_PATH:
        return UserError(f"Cannot open {path}: {error.strerror}. Correct 'file'.")
    return None
