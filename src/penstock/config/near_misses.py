"""Keys that are not known, but close to one that is: `task.max` for `tasks.max`."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from difflib import get_close_matches

CLOSE = 0.87
"""Of 1, which is the same: `topic` and `topics` are close, `file.name` and `file` are not."""


def near_misses(keys: Iterable[str], known: Collection[str]) -> list[tuple[str, str]]:
    """Pairs of a key that is not ``known`` and the known one that was probably meant."""
    unknown = sorted(set(keys) - set(known))
    found = [(key, get_close_matches(key, known, n=1, cutoff=CLOSE)) for key in unknown]
    return [(key, matches[0]) for key, matches in found if matches]
