"""The file with what Spark's JVM and its Python workers print, kept to a bounded size.

They hold the file open for as long as they live, so it is emptied in place rather than renamed:
what it held becomes the one older file that is kept.
"""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path
from typing import BinaryIO

FILE = "spark-output.log"
LONGEST = 10 * 1024 * 1024


class SparkOutput:
    """Of one data folder."""

    def __init__(self, data_dir: Path, longest: int = LONGEST) -> None:
        self.path = data_dir / FILE
        self._longest = longest

    def open(self) -> BinaryIO:
        """For appending: only so does the file stay sound when it is emptied."""
        return self.path.open("ab")

    def trim(self) -> None:
        """Begin a new file if this one has grown too long; lines printed just now may be lost."""
        with contextlib.suppress(OSError):
            if self.path.stat().st_size > self._longest:
                shutil.copyfile(self.path, self.path.with_suffix(".log.1"))
                with self.path.open("r+b") as file:
                    file.truncate(0)
