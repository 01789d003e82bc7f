"""Random numbers that depend on nothing but a seed and the number of the record.

So a record is the same however often it is made, and whatever batch it is in.
"""

from __future__ import annotations

import hashlib
from typing import Any, Final

import numpy as np

Numbers = np.ndarray[Any, np.dtype[np.uint64]]

_GAMMA: Final = np.uint64(0x9E3779B97F4A7C15)


class Draws:
    """A sequence of draws for one field; ``of(name)`` is one that is independent of it."""

    def __init__(self, seed: int, path: str = "") -> None:
        self._seed, self._path = seed, path
        digest = hashlib.blake2b(f"{seed}/{path}".encode(), digest_size=8).digest()
        self._start = np.uint64(int.from_bytes(digest, "big"))

    def of(self, name: str) -> Draws:
        """The draws of what is inside, or of another purpose."""
        return Draws(self._seed, f"{self._path}/{name}")

    def bits(self, numbers: Numbers) -> Numbers:
        """64 random bits for each number."""
        with np.errstate(over="ignore"):
            return _mixed(numbers * _GAMMA + self._start)

    def below(self, limit: int, numbers: Numbers) -> np.ndarray[Any, np.dtype[np.int64]]:
        """An integer from 0 up to ``limit``, which is left out; ``limit`` is at most 2**63."""
        return (self.bits(numbers) % np.uint64(limit)).astype(np.int64)

    def fractions(self, numbers: Numbers) -> np.ndarray[Any, np.dtype[np.float64]]:
        """A number from 0 up to 1, which is left out."""
        return (self.bits(numbers) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _mixed(bits: Numbers) -> Numbers:
    """SplitMix64's last steps: neighbouring numbers come out unlike."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
