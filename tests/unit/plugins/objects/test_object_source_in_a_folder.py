"""The contract of a source, for objects that are files of a folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from object_sources import Objects
from penstock.sdk.testing import SourceContract


class TestObjectsInAFolder(SourceContract):
    @pytest.fixture
    def source(self, tmp_path: Path) -> Objects:
        return Objects({"local.folder": str(tmp_path)})


class TestHalfReadObjects(SourceContract):
    """Batches of three records, so that every restart is in the middle of an object."""

    @pytest.fixture
    def source(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Objects:
        monkeypatch.setattr("penstock.sdk.transformers.transformer.ROWS", 3)
        monkeypatch.setattr("penstock.plugins.objects.source_gathering.ENOUGH_ROWS", 1)
        return CsvObjects({"local.folder": str(tmp_path)}, **{"input.format": "csv"})


class CsvObjects(Objects):
    def put(self, key: str, numbers: Sequence[int]) -> None:
        self.put_bytes(key, "".join(["n\n", *(f"{n}\n" for n in numbers)]).encode())

    def spoil(self) -> None:
        self.put_bytes("in/bad.csv", b"n\n1,2\n")
