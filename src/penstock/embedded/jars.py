"""Jars in a cache folder of the user: those of the broker and of Spark's Kafka connector."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_cache_path

from penstock.embedded.errors import JarsUnavailable
from penstock.embedded.ivy import BROKER_AND_SPARK, IvyError, JarSet, Progress, retrieve
from penstock.embedded.java import Java
from penstock.embedded.locks import FileLock

MARKER = "complete.json"


@dataclass(frozen=True)
class Jars:
    """The folder of the broker's jars, and the jars to give to Spark."""

    broker: Path
    spark: list[Path]


def ensure_jars(java: Java, progress: Progress | None = None, cache: Path | None = None) -> Jars:
    """Return the jars, downloading them first where the cache lacks them or is damaged.

    A complete cache needs neither network nor Java nor write access. Safe to call from several
    processes at once: one downloads, the others wait. Raises JarsUnavailable.
    """
    return _jars(ensure_folder(BROKER_AND_SPARK, java, progress, cache))


def ensure_folder(
    jar_set: JarSet, java: Java, progress: Progress | None = None, cache: Path | None = None
) -> Path:
    """Return the folder of a complete set, with a folder in it for each of its configurations.

    As `ensure_jars`, for any set.
    """
    folder = jars_folder(cache, jar_set)
    if not is_complete(folder, jar_set):
        _fill(folder, jar_set, java, progress or (lambda _: None))
    return folder


def jars_folder(cache: Path | None = None, jar_set: JarSet = BROKER_AND_SPARK) -> Path:
    """Return the folder that holds the jars once complete; its name changes with their list."""
    key = hashlib.sha256(jar_set.ivy_xml.encode()).hexdigest()[:16]
    return (cache or cache_folder()) / f"jars-{key}"


def cache_folder() -> Path:
    """Return PENSTOCK_CACHE_DIR, or the platform's cache folder for this user."""
    if chosen := os.environ.get("PENSTOCK_CACHE_DIR"):
        return Path(chosen).expanduser().absolute()
    return user_cache_path("penstock", appauthor=False)


def is_complete(folder: Path, jar_set: JarSet = BROKER_AND_SPARK) -> bool:
    """Return whether a folder holds a set in full: no jar is missing, added or cut short."""
    try:
        expected = json.loads((folder / MARKER).read_text())
        actual = _sizes(folder, jar_set)
    except (OSError, ValueError):
        return False
    return bool(expected == actual and all(actual.values()))


def _jars(folder: Path) -> Jars:
    return Jars(folder / "broker", sorted((folder / "spark").iterdir()))


def _sizes(folder: Path, jar_set: JarSet) -> dict[str, dict[str, int]]:
    return {
        configuration: {jar.name: jar.stat().st_size for jar in (folder / configuration).iterdir()}
        for configuration in jar_set.configurations
    }


def _fill(folder: Path, jar_set: JarSet, java: Java, progress: Progress) -> None:
    lock = FileLock(folder.with_suffix(".lock"))
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(lambda pid: progress(f"waiting for process {pid}, which downloads the jars"))
        if not is_complete(folder, jar_set):
            _download(folder, jar_set, java, progress)
    except OSError as failed:
        raise JarsUnavailable(_unwritable(folder.parent, failed)) from failed
    finally:
        lock.release()


def _download(folder: Path, jar_set: JarSet, java: Java, progress: Progress) -> None:
    _remove_leftovers(folder)
    # Never a fixed name: an Ivy whose parent was killed may write a moment longer.
    part = Path(tempfile.mkdtemp(prefix=f"{folder.name}.part-", dir=folder.parent))
    try:
        progress(f"downloading jars (about {jar_set.megabytes} MB, once) to {folder}")
        retrieve(jar_set, java, part, progress)
        _complete(part, folder, jar_set)
    except IvyError as failed:
        raise JarsUnavailable(_unreachable(folder, jar_set, str(failed))) from None
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _complete(part: Path, folder: Path, jar_set: JarSet) -> None:
    shutil.rmtree(part / ".ivy")
    (part / "ivy.log").unlink()  # It may name a private mirror, and this folder is for copying.
    part.chmod(0o755)
    (part / MARKER).write_text(json.dumps(_sizes(part, jar_set), indent=1))
    if not is_complete(part, jar_set):
        raise IvyError("Ivy ended well but left no jars")
    part.rename(folder)


def _remove_leftovers(folder: Path) -> None:
    for leftover in folder.parent.glob(f"{folder.name}.part-*"):
        shutil.rmtree(leftover, ignore_errors=True)
    if folder.exists():
        shutil.rmtree(folder)


def _unreachable(folder: Path, jar_set: JarSet, why: str) -> str:
    return f"{jar_set.contents} could not be downloaded.\n{why}\n{ways_to_get(folder)}"


def ways_to_get(folder: Path) -> str:
    """Return what to do where the jars of `folder` cannot be downloaded."""
    return (
        f"Connect this machine to the network once and try again (behind a proxy, set "
        f"JAVA_TOOL_OPTIONS=-Dhttps.proxyHost=... -Dhttps.proxyPort=...; with a mirror of your "
        f"own, PENSTOCK_IVY_SETTINGS to an ivysettings.xml), or copy the folder {folder} from a "
        f"machine that has it, or set PENSTOCK_CACHE_DIR to a folder that holds {folder.name}."
    )


def _unwritable(cache: Path, failed: OSError) -> str:
    return (
        f"The cache folder {cache} cannot be used: {failed.strerror}. "
        f"Make it writable with space for 120 MB, or set PENSTOCK_CACHE_DIR to another folder."
    )
