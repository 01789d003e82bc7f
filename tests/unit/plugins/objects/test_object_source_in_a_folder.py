"""The contract of a source, for objects that are files of a folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from object_sources import Objects
from penstock.sdk.testing import SourceContract


class TestObjectsInAFolder(SourceContract):
    @pytest.fixture
    def source(self, tmp_path: Path) -> Objects:
        return Objects({"local.folder": str(tmp_path)})
