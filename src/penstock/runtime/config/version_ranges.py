"""Versions as Maven orders them, and ranges of them, for ``plugin.version`` keys."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import zip_longest

TOKEN = re.compile(r"[0-9]+|[a-z]+")
BEFORE_RELEASE = ("alpha", "beta", "milestone", "rc", "snapshot")
SAME = {"cr": "rc", "ga": "", "final": "", "release": ""}
INTERVAL = r"([\[(])([^\[\](),]*)(,?)([^\[\](),]*)([\])])"
RANGE = re.compile(rf"{INTERVAL}(?:,{INTERVAL})*")
LATEST = "latest"

Rank = tuple[int, int, str]
RELEASE: Rank = (0, 0, "")
"""What pads a shorter version when it is compared with a longer one."""


@dataclass(frozen=True)
class _Interval:
    """From one version to another; an end that is empty is open."""

    low: str
    high: str
    with_low: bool
    with_high: bool

    def __str__(self) -> str:
        left, right = "[" if self.with_low else "(", "]" if self.with_high else ")"
        return f"{left}{self.low},{self.high}{right}"

    def holds(self, version: str) -> bool:
        return (not self.low or _is_above(version, self.low, or_same=self.with_low)) and (
            not self.high or _is_above(self.high, version, or_same=self.with_high)
        )


def is_wanted(version: str, wanted: str) -> bool:
    """Whether a plugin's ``version`` is in the range ``wanted``; ValueError if that is invalid.

    A single version means exactly that version, as in Kafka Connect.
    """
    wanted = wanted.strip()
    if not wanted or wanted == LATEST:
        return True
    return any(interval.holds(version) for interval in _intervals(wanted))


def as_range(wanted: str) -> str:
    """``wanted`` as Kafka Connect shows it, with both ends."""
    return ",".join(map(str, _intervals(wanted.strip())))


def _intervals(wanted: str) -> list[_Interval]:
    text = wanted if wanted.startswith(("[", "(")) else f"[{wanted}]"
    if not RANGE.fullmatch(text):
        raise ValueError(text)
    return [_interval(*match.groups()) for match in re.finditer(INTERVAL, text)]


def _interval(left: str, low: str, comma: str, high: str, right: str) -> _Interval:
    if not comma and (left + right != "[]" or not low.strip()):
        raise ValueError(f"{left}{low}{right}")
    upper = high if comma else low
    return _Interval(low.strip(), upper.strip(), left == "[", right == "]")


def _is_above(version: str, other: str, *, or_same: bool) -> bool:
    pairs = zip_longest(_ranks(version), _ranks(other), fillvalue=RELEASE)
    differing = next(((one, two) for one, two in pairs if one != two), None)
    return or_same if differing is None else differing[0] > differing[1]


def _ranks(version: str) -> list[Rank]:
    return [_rank(SAME.get(token, token)) for token in TOKEN.findall(version.lower())]


def _rank(token: str) -> Rank:
    if token.isdigit():
        return (3, int(token), "") if int(token) else RELEASE
    if token in BEFORE_RELEASE:
        return (-1, BEFORE_RELEASE.index(token), "")
    return (1, 0, token) if token else RELEASE
