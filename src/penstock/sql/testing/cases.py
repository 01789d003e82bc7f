"""Tests in files: a test begins with ``--@test: its name``; without that, a file is one test."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from penstock.sdk.errors import UserError

TEST, MESSAGE, ERROR = "--@test:", "--@expected.message:", "--@expected.error:"


@dataclass(frozen=True)
class Case:
    """A test. ``script`` has as many empty lines before it as the file has other lines."""

    file: Path
    name: str
    script: str
    expected: str | None = None
    """What the error must say that ends it; empty for any error."""


def cases_in(place: Path) -> list[Case]:
    """The tests of a file, or of all files below a folder; UserError if there is none."""
    files = sorted(place.rglob("*.sql")) if place.is_dir() else [place]
    found = [case for file in files for case in _cases(file)]
    if not found:
        raise UserError(f"There is no test in {place}: it needs files that end with .sql.")
    return found


def _cases(file: Path) -> list[Case]:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"Cannot read {file}: {error}") from None
    begins = [n for n, line in enumerate(lines) if line.strip().startswith(TEST)] or [0]
    ends = [*begins[1:], len(lines)]
    found = [_case(file, lines, a, b) for a, b in zip(begins, ends, strict=True)]
    return [case for case in found if case.script.strip()]


def _case(file: Path, lines: list[str], begin: int, end: int) -> Case:
    own = lines[begin:end]
    name = _told(own, TEST) or file.stem
    expected = _told(own, MESSAGE)
    if expected is None and _told(own, ERROR) is not None:
        expected = ""
    return Case(file, name, "\n" * begin + "\n".join(own), expected)


def _told(lines: list[str], word: str) -> str | None:
    found = [line.strip().removeprefix(word) for line in lines if line.strip().startswith(word)]
    return found[0].strip() if found else None
