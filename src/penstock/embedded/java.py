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
NEED = f"Java {OLDEST} to {NEWEST} with the module {MODULE} is needed"
COMMON_FOLDERS = (
    "/usr/lib/jvm/*",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
    "~/.sdkman/candidates/java/*",
)
ANSWER_SECONDS = 30.0
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


@dataclass(frozen=True)
class Unfit:
    """A Java that was passed over."""

    path: Path
    why: str


class _UnfitError(Exception):
    """Why one candidate does not fit."""


def find_java(env: Mapping[str, str] | None = None, folders: Sequence[str] | None = None) -> Java:
    """Return the first fitting Java, as `look_for_java`. Raises JavaNotFound when none fits."""
    java, unfit = look_for_java(env, folders)
    if java is None:
        raise JavaNotFound(_nothing_fits(unfit))
    return java


def look_for_java(
    env: Mapping[str, str] | None = None,
    folders: Sequence[str] | None = None,
    seconds: float = ANSWER_SECONDS,
) -> tuple[Java | None, list[Unfit]]:
    """Return the first fitting Java, or None, and those passed over on the way to it.

    The order is JAVA_HOME, PATH, then `folders`: by default those that PENSTOCK_JAVA_FOLDERS
    lists, else the common ones. Each candidate is started once for its version; only those of a
    fitting version once more for their modules. One that takes longer than `seconds` is unfit.
    """
    env = os.environ if env is None else env
    unfit: list[Unfit] = []
    for candidate in _candidates(env, _folders(env) if folders is None else folders):
        try:
            return _fitting(candidate, seconds), unfit
        except _UnfitError as why:
            unfit.append(Unfit(candidate, str(why)))
    return None, unfit


def _folders(env: Mapping[str, str]) -> Sequence[str]:
    listed = env.get("PENSTOCK_JAVA_FOLDERS")
    return COMMON_FOLDERS if listed is None else [name for name in listed.split(os.pathsep) if name]


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
        for folder in sorted(Path("/").glob(str(Path(pattern).expanduser().absolute())[1:])):
            yield folder / "bin" / "java"


def _fitting(candidate: Path, seconds: float) -> Java:
    java = _inspect(candidate, seconds)
    if not OLDEST <= java.major <= NEWEST:
        age = "old" if java.major < OLDEST else "new"
        raise _UnfitError(f"Java {java.major} ({java.version}) is too {age}")
    if MODULE not in _answer(java.path, seconds, "--list-modules"):
        raise _UnfitError(f"Java {java.major} ({java.version}) lacks the module {MODULE}")
    return java


def _inspect(candidate: Path, seconds: float) -> Java:
    answer = _answer(candidate, seconds, "-XshowSettings:properties", "-version")
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


def _answer(executable: Path, seconds: float, *arguments: str) -> str:
    try:
        done = subprocess.run(
            [str(executable), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=seconds,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as failed:
        raise _UnfitError(f"it does not start ({type(failed).__name__})") from failed
    return done.stdout.decode(errors="replace")


def _nothing_fits(unfit: Sequence[Unfit]) -> str:
    if not unfit:
        return f"{NEED}, and no Java was found. {ADVICE}"
    found = [f"  {java.path}: {java.why}" for java in unfit]
    return "\n".join([f"{NEED}; none of those found fits:", *found, ADVICE])
