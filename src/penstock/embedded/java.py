"""Finds a Java that both Spark 4.0 and the Kafka broker run on."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from penstock.embedded.errors import JavaNotFound

OLDEST, NEWEST = 17, 22
MODULE = "jdk.incubator.vector"
COMMON_FOLDERS = (
    "/usr/lib/jvm/*",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
    "~/.sdkman/candidates/java/*",
)
ANSWER_SECONDS = 30
ADVICE = (
    "Install one (Debian and Ubuntu: apt install openjdk-17-jdk-headless; macOS: "
    "brew install --cask temurin@21; anywhere: sdk install java 21-tem), "
    "or set JAVA_HOME to the folder of one you have."
)


@dataclass(frozen=True)
class Java:
    """A Java that fits: its executable, its home folder, and its version."""

    path: Path
    home: Path
    major: int
    version: str


class _UnfitError(Exception):
    """Why one candidate does not fit."""


def find_java(
    env: Mapping[str, str] | None = None, folders: Sequence[str] = COMMON_FOLDERS
) -> Java:
    """Return the first fitting Java of JAVA_HOME, PATH and the common folders, in this order.

    Each candidate is started once for its version; only those of a fitting version once more
    for their modules. Raises JavaNotFound when none fits.
    """
    found: list[str] = []
    for candidate in _candidates(os.environ if env is None else env, folders):
        try:
            return _fitting(candidate)
        except _UnfitError as unfit:
            found.append(f"  {candidate}: {unfit}")
    raise JavaNotFound(_nothing_fits(found))


def parse_version(text: str) -> tuple[int, str]:
    """Return (major, full version) from what `java -version` prints; ValueError if it has none."""
    match = re.search(r'version "((?:1\.)?(\d+)[^"]*)"', text)
    if match is None:
        raise ValueError("it prints no version")
    return int(match[2]), match[1]


def _candidates(env: Mapping[str, str], folders: Sequence[str]) -> Iterator[Path]:
    seen: set[Path] = set()
    for path in _executables(env, folders):
        # One Java is often reachable by several links; starting it once is enough.
        if path.is_file() and path.resolve() not in seen:
            seen.add(path.resolve())
            yield path


def _executables(env: Mapping[str, str], folders: Sequence[str]) -> Iterator[Path]:
    if home := env.get("JAVA_HOME"):
        yield Path(home) / "bin" / "java"
    if on_path := shutil.which("java", path=env.get("PATH", "")):
        yield Path(on_path)
    for pattern in folders:
        for folder in sorted(Path("/").glob(str(Path(pattern).expanduser())[1:])):
            yield folder / "bin" / "java"


def _fitting(candidate: Path) -> Java:
    java = _inspect(candidate)
    if not OLDEST <= java.major <= NEWEST:
        age = "old" if java.major < OLDEST else "new"
        raise _UnfitError(f"Java {java.major} ({java.version}) is too {age}")
    if MODULE not in _answer(java.path, "--list-modules"):
        raise _UnfitError(f"Java {java.major} ({java.version}) lacks the module {MODULE}")
    return java


def _inspect(candidate: Path) -> Java:
    answer = _answer(candidate, "-XshowSettings:properties", "-version")
    try:
        major, version = parse_version(answer)
    except ValueError as none:
        raise _UnfitError(str(none)) from none
    home = _home(candidate, answer)
    own = home / "bin" / "java"
    # A shim (jenv, macOS's /usr/bin/java) may start another Java later: keep the one that answered.
    return Java(own if own.is_file() else candidate, home, major, version)


def _home(candidate: Path, answer: str) -> Path:
    match = re.search(r"^\s*java\.home = (.+?)\s*$", answer, re.MULTILINE)
    return Path(match[1]) if match else candidate.resolve().parent.parent


def _answer(executable: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            [str(executable), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=ANSWER_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as failed:
        raise _UnfitError(f"it does not start ({type(failed).__name__})") from failed
    return done.stdout.decode(errors="replace")


def _nothing_fits(found: Sequence[str]) -> str:
    need = f"Java {OLDEST} to {NEWEST} with the module {MODULE} is needed"
    if not found:
        return f"{need}, and no Java was found. {ADVICE}"
    return "\n".join([f"{need}; none of those found fits:", *found, ADVICE])
