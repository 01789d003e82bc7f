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


def object_set(root: Path, lines: int) -> ObjectSet:
    """A bucket with that many lines, in as many objects as usual; written if missing."""
    each, folder = max(1, lines // OBJECTS), root / f"lines-{lines}"
    if not folder.exists():
        folder.mkdir()
        _write(folder, each)
    size = sum(file.stat().st_size for file in folder.iterdir())
    return ObjectSet(folder.name, each * OBJECTS, size - each * OBJECTS)


def _write(folder: Path, each: int) -> None:
    texts = itertools.cycle(ending.strip().decode() for ending in endings())
    for number in range(OBJECTS):
        numbers = range(number * each, (number + 1) * each)
        whole = "".join(f'{{"id":{n},"text":"{next(texts)}"}}\n' for n in numbers)
        (folder / f"{number:06}.jsonl").write_text(whole)
