"""One broker per data folder."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

from penstock.embedded.errors import DataFolderInUse, EmbeddedError
from penstock.embedded.locks import POLL_SECONDS, FileLock

PATIENCE_SECONDS = 20.0
"""Well beyond the time that the watchdog gives a Java whose parent was killed."""
LOCK = "penstock.lock"
ORDERLY = ".kafka_cleanshutdown"


def log_dir(data_dir: Path) -> Path:
    """Return where Kafka keeps the topics."""
    return data_dir / "log"


def was_killed(data_dir: Path) -> bool:
    """Return whether the last broker on it ended without shutting down, or did not start."""
    folder = log_dir(data_dir)
    prepared = (folder / "meta.properties").exists()
    return prepared and not (folder / ORDERLY).exists()


def note_failed_start(data_dir: Path) -> None:
    """Let the next start recover: Kafka shuts down in order even when it was not let in."""
    (log_dir(data_dir) / ORDERLY).unlink(missing_ok=True)


def metadata_bytes(data_dir: Path) -> int:
    """Return how much the controller has written; an active one writes twice a second."""
    files = (log_dir(data_dir) / "__cluster_metadata-0").glob("*.log")
    return sum(file.stat().st_size for file in files)


def claim(data_dir: Path, patience: float = PATIENCE_SECONDS) -> FileLock:
    """Create the folder where needed and take its lock.

    A living holder is refused at once with DataFolderInUse; one that is ending, or whose Java
    outlives it for a moment, is waited for.
    """
    if "," in str(data_dir):
        raise EmbeddedError(
            f"Kafka cannot use a folder with a comma in its name: choose another than {data_dir}"
        )
    data_dir.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + patience
    lock = FileLock(data_dir / LOCK)
    before = lock.told()
    _take(lock, data_dir, deadline)
    try:
        _wait_for_kafka(data_dir, before.get("java"), deadline)
    except BaseException:
        lock.release()
        raise
    return lock


def in_use(data_dir: Path) -> DataFolderInUse | None:
    """Return what `claim` would raise now, without waiting for anyone and without writing."""
    lock = FileLock(data_dir / LOCK)
    told = lock.told()
    if lock.held():
        return DataFolderInUse(data_dir, told.get("pid"))
    if _kafka_holds(log_dir(data_dir) / ".lock"):
        return DataFolderInUse(data_dir, told.get("java"))
    return None


def _take(lock: FileLock, data_dir: Path, deadline: float) -> None:
    while not lock.try_acquire():
        holder = lock.told()
        pid = holder.get("pid")
        # Facts of a dead process are those of an earlier holder: the next reading has the new.
        ending = holder.get("ending") or not pid or not _exists(pid)
        if not ending or time.monotonic() > deadline:
            raise DataFolderInUse(data_dir, pid)
        time.sleep(POLL_SECONDS)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _wait_for_kafka(data_dir: Path, pid: int | None, deadline: float) -> None:
    while _kafka_holds(log_dir(data_dir) / ".lock"):
        if time.monotonic() > deadline:
            raise DataFolderInUse(data_dir, pid)
        time.sleep(POLL_SECONDS)


def _kafka_holds(lock: Path) -> bool:
    try:
        with lock.open("r+b") as file:
            # Java locks with fcntl, which `lockf` is; closing the file gives it back.
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False
