"""Files of plain lines, 100 to 200 bytes each."""

from __future__ import annotations

import itertools
import random
import string
from dataclasses import dataclass
from pathlib import Path

SHORTEST, LONGEST = 100, 200
NUMBER_DIGITS = 10
DISTINCT = 5_000
SEED = 20_240_229


@dataclass(frozen=True)
class LineFile:
    """A file and how much is in it."""

    path: Path
    lines: int

    @property
    def payload_bytes(self) -> int:
        """The bytes of its lines, without what ends them."""
        return self.path.stat().st_size - self.lines


def line_file(path: Path, count: int) -> LineFile:
    """A file of ``count`` numbered ASCII lines, the same ones every time; written if missing."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        _write(path, count)
    return LineFile(path, count)


def _write(path: Path, count: int) -> None:
    texts = itertools.cycle(endings())
    with path.open("wb", buffering=1 << 20) as file:
        file.writelines(
            b"%010d%b" % (number, ending)
            for number, ending in zip(range(count), texts, strict=False)
        )


def endings() -> list[bytes]:
    """What lines have behind their number, the newline included."""
    dice = random.Random(SEED)  # noqa: S311 - lines need not be secret, but the same every time
    letters = string.ascii_letters + string.digits + "     "
    lengths = [dice.randint(SHORTEST, LONGEST) - NUMBER_DIGITS - 2 for _ in range(DISTINCT)]
    return [f" {''.join(dice.choices(letters, k=length))}\n".encode() for length in lengths]
