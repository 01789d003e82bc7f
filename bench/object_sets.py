"""Objects of JSON lines in a bucket, 100 to 200 bytes a line."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path

from bench.deliveries import Expected
from bench.line_files import endings

OBJECTS = 200


@dataclass(frozen=True)
class ObjectSet:
    """A bucket, and what is in it."""

    bucket: str
    lines: int
    payload_bytes: int

    def expected(self) -> Expected:
        """What a topic must hold that all lines are in."""
        return Expected(self.lines, self.payload_bytes)


def object_set(root: Path, bucket: str, lines: int) -> ObjectSet:
    """A new bucket with that many lines, in as many objects as usual."""
    folder = root / bucket
    folder.mkdir()
    texts = itertools.cycle(ending.strip().decode() for ending in endings())
    each, size = max(1, lines // OBJECTS), 0
    for number in range(OBJECTS):
        numbers = range(number * each, (number + 1) * each)
        whole = "".join(f'{{"id":{n},"text":"{next(texts)}"}}\n' for n in numbers)
        (folder / f"{number:06}.jsonl").write_text(whole)
        size += len(whole) - each
    return ObjectSet(bucket, each * OBJECTS, size)
