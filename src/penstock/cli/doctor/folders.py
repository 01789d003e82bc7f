"""The data folder: writable, with space on its disk, and not in use."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import psutil

from penstock.cli.doctor.asked import Asked
from penstock.cli.doctor.findings import Finding, failed, ok, warning
from penstock.embedded.data_folder import in_use

LEAST_BYTES = 500 * 10**6
GOOD_BYTES = 2 * 10**9


def check(asked: Asked) -> list[Finding]:
    """The folder, its holder and its disk."""
    return [folder_finding(asked), disk_finding(asked.data_dir)]


def folder_finding(asked: Asked) -> Finding:
    """Whether the folder can be written and is free."""
    folder = asked.data_dir
    for place in (folder, folder / "kafka"):
        if why := trouble(place):
            advice = "Give it to yourself, or choose another folder with --data-dir."
            return failed("data folder", f"{place} cannot be used: {why}", advice)
    if worker := asked.own_worker:
        return ok("data folder", f"{folder}, used by your worker (process {worker.pid})")
    if not asked.given_brokers and (used := in_use(folder / "kafka")):
        return _in_use(folder, used.pid)
    return ok("data folder", f"{folder}{'' if folder.exists() else ', made by `penstock up`'}")


def _in_use(folder: Path, pid: int | None) -> Finding:
    advice = "Stop that process, or choose another folder with --data-dir."
    return failed("data folder", f"{folder} is in use by {process_name(pid)}", advice)


def disk_finding(folder: Path, least: int = LEAST_BYTES, good: int = GOOD_BYTES) -> Finding:
    """Whether the folder's disk has space for topics, logs and Spark's scratch files."""
    usage = shutil.disk_usage(nearest(folder))
    found = f"{size(usage.free)} of {size(usage.total)} free at {folder}"
    advice = "Free some space, or choose a folder on another disk with --data-dir."
    if usage.free < least:
        return failed("disk", f"{found}; at least {size(least)} are needed", advice)
    if usage.free < good:
        return warning("disk", f"{found}; with less than {size(good)} it is soon full", advice)
    return ok("disk", found)


def nearest(path: Path) -> Path:
    """The path, or of the folders above it the first that exists."""
    return next(place for place in (path, *path.parents) if place.exists())


def trouble(folder: Path) -> str:
    """Why a folder cannot be used or made; empty if it can. Writes nothing."""
    place = nearest(folder)
    if not place.is_dir():
        return f"{place} is not a folder"
    if not os.access(place, os.W_OK | os.X_OK):
        return f"no right to write in {place}"
    return ""


def size(count: float) -> str:
    """Bytes for a person."""
    for unit in ("B", "KB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def process_name(pid: int | None) -> str:
    """A process for a person, as far as the system tells of it."""
    if pid is None:
        return "another process"
    try:
        return f"process {pid} ({psutil.Process(pid).name()})"
    except psutil.Error:
        return f"process {pid}"
