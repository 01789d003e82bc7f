"""The contract of every source, for this one: `pytest examples/09-a-source-in-an-evening`."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from penstock.sdk.testing import SourceContract, SourceUnderTest

sys.path.insert(0, str(Path(__file__).parent))

from drop_folder_source import DropFolderSourceConnector


class Folder(SourceUnderTest):
    """Each write is a new file, complete when it appears."""

    connector = DropFolderSourceConnector

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def config(self) -> Mapping[str, str]:
        return {"folder": str(self.folder), "topic": "t", "file.compression.type": "gzip"}

    def write(self, numbers: Sequence[int]) -> None:
        self._drop("".join(f'{{"n": {number}}}\n' for number in numbers))

    def spoil(self) -> None:
        self._drop('{"n": \n')

    def _drop(self, text: str) -> None:
        name = f"{len(list(self.folder.iterdir())):05}.jsonl.gz"
        arriving = self.folder / "arriving"
        arriving.write_bytes(gzip.compress(text.encode()))
        arriving.rename(self.folder / name)

    def number(self, value: Any) -> int:
        return int(value["n"])


class TestDropFolderSource(SourceContract):
    """Restarts, kills, stops, altered offsets, other numbers of tasks, and so on."""

    @pytest.fixture
    def source(self, tmp_path: Path) -> SourceUnderTest:
        return Folder(tmp_path)
