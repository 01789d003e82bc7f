"""Where two answers differ, once everything that must differ has been evened out."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

# Values that say which worker, build or moment it was; that they are there is still compared.
EVENED_KEYS = {"worker_id", "version", "commit", "trace", "documentation", "last_modified"}
EVENED_TEXTS = (
    # Where in the body Jackson stumbled, in its own words for source and place.
    (re.compile(r"\s*\(?(start marker )?at \[Source: .*?; line: \d+, column: \d+\]\)?"), ""),
    (re.compile(r"\s*\(through reference chain: .*?\]\)"), ""),
    (re.compile(r"\s*at \[line: \d+, column: \d+\]"), ""),
    (re.compile(r"available connectors are: .*", re.DOTALL), "available connectors are: …"),
)
PLAIN = (str, int, float, bool, type(None))


@dataclass(frozen=True)
class Difference:
    """One place in which two answers differ."""

    title: str
    place: str
    theirs: Any
    ours: Any

    def __str__(self) -> str:
        sides = f"  Kafka Connect: {self.theirs!r}\n  Penstock:      {self.ours!r}"
        return f"{self.title}\n  at {self.place}\n{sides}"


@dataclass(frozen=True)
class Known:
    """Differences that are meant: patterns for step and place, and why."""

    title: str
    place: str
    reason: str

    def covers(self, difference: Difference) -> bool:
        """Whether this is such a difference."""
        return _like(difference.title, self.title) and _like(difference.place, self.place)


def _like(text: str, pattern: str) -> bool:
    # Only the star has a meaning: paths and places are full of brackets.
    return fnmatchcase(text, re.sub(r"([\[?])", r"[\1]", pattern))


def differences(title: str, theirs: Any, ours: Any) -> list[Difference]:
    """Every place in which the two answers to a step differ."""
    found = _compare("", evened(theirs), evened(ours))
    return [Difference(title, place, left, right) for place, left, right in found]


def evened(value: Any) -> Any:
    """``value`` without what must differ, and lists of things with names by their names."""
    if isinstance(value, dict):
        return {key: _evened_field(key, item) for key, item in value.items()}
    if isinstance(value, list):
        return _named([evened(item) for item in value])
    return _evened_text(value) if isinstance(value, str) else value


def _evened_field(key: str, value: Any) -> Any:
    if key in EVENED_KEYS and isinstance(value, str | int):
        return f"<{key}>"
    return evened(value)


def _evened_text(text: str) -> str:
    for pattern, same in EVENED_TEXTS:
        text = pattern.sub(same, text)
    return text


def _named(items: list[Any]) -> Any:
    names = [_name(item) for item in items]
    if not items or None in names or len(set(names)) < len(names):
        return items
    return {"order": names, **dict(zip(names, items, strict=True))}


def _name(item: Any) -> str | None:
    """What a list's entry is called: a config value, a config key, a plugin."""
    if not isinstance(item, dict):
        return None
    if "class" in item:
        return f"{item.get('type')} {item['class']}"
    value = item.get("value")
    name = (value if isinstance(value, dict) else item).get("name")
    return name if isinstance(name, str) else None


def _compare(place: str, theirs: Any, ours: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(theirs, dict) and isinstance(ours, dict):
        yield from _compare_fields(place, theirs, ours)
    elif _plain_list(theirs) and _plain_list(ours):
        yield from _compare_lists(place, theirs, ours)
    elif isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        for number, (left, right) in enumerate(zip(theirs, ours, strict=True)):
            yield from _compare(f"{place}[{number}]", left, right)
    elif theirs != ours or type(theirs) is not type(ours):
        yield place, theirs, ours


def _compare_fields(
    place: str, theirs: dict[str, Any], ours: dict[str, Any]
) -> Iterator[tuple[str, Any, Any]]:
    for key in [*theirs, *(key for key in ours if key not in theirs)]:
        where = f"{place}.{key}" if place else key
        if key in theirs and key in ours:
            yield from _compare(where, theirs[key], ours[key])
        else:
            sign = "-" if key in theirs else "+"
            yield f"{where} {sign}", theirs.get(key, "(absent)"), ours.get(key, "(absent)")


def _plain_list(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, PLAIN) for item in value)


def _compare_lists(
    place: str, theirs: list[Any], ours: list[Any]
) -> Iterator[tuple[str, Any, Any]]:
    """What is missing, too much or at another place, entry by entry."""
    left, right = [repr(item) for item in theirs], [repr(item) for item in ours]
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind != "equal":
            yield from ((f"{place} -{item}", item, "(absent)") for item in theirs[a:b])
            yield from ((f"{place} +{item}", "(absent)", item) for item in ours[c:d])
