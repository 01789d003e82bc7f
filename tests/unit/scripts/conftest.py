"""Small suites of their own, for scripts that run pytest."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from project_scripts import ROOT


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to run pytest in, with the project's scripts and the tests' support at hand."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(ROOT / "tests/support")]))
    # Only what the scripts need: all installed plugins together take a second to be imported.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "pytest_randomly")
    return tmp_path
