"""Version requirements as package metadata states them; needs nothing but Python."""

from __future__ import annotations

import re
from dataclasses import dataclass

OPERATORS = {
    "==": lambda have, want: have == want,
    "!=": lambda have, want: have != want,
    ">=": lambda have, want: have >= want,
    "<=": lambda have, want: have <= want,
    ">": lambda have, want: have > want,
    "<": lambda have, want: have < want,
}
WORKER = re.compile(r"^\s*extra == ['\"]worker['\"]\s*$")


@dataclass(frozen=True)
class Requirement:
    """A package and the versions of it that fit, such as ``>=22,<27``."""

    name: str
    versions: str

    def __str__(self) -> str:
        return self.name + self.versions


def parse(text: str) -> Requirement | None:
    """One entry of a package's requirements; None for one that a worker can do without."""
    stated, _, condition = text.partition(";")
    if condition and not WORKER.search(condition):
        return None
    match = re.fullmatch(r"([A-Za-z0-9._-]+)\s*(.*)", stated.strip())
    return Requirement(match[1], match[2].strip()) if match else None


def fits(version: str, wanted: str) -> bool:
    """Whether ``version`` fulfils every part of ``wanted``; numbers count, suffixes do not."""
    return all(_fits(version, part.strip()) for part in wanted.split(",") if part.strip())


def _fits(version: str, part: str) -> bool:
    match = re.fullmatch(r"([=!<>]=?)\s*([0-9.]+)", part)
    if match is None or match[1] not in OPERATORS:
        return True  # Not a form that Penstock's own requirements have.
    have, want = _numbers(version), _numbers(match[2])
    length = max(len(have), len(want))
    return bool(OPERATORS[match[1]](_padded(have, length), _padded(want, length)))


def _numbers(version: str) -> list[int]:
    match = re.match(r"\d+(\.\d+)*", version)
    return [int(number) for number in match[0].split(".")] if match else []


def _padded(numbers: list[int], length: int) -> list[int]:
    return numbers + [0] * (length - len(numbers))
