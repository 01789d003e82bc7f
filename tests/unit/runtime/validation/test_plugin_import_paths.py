"""Plugins come from entry points: a config can name one, but not have anything imported."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from penstock.runtime.errors import BadRequest
from penstock.runtime.plugins import Plugins
from penstock.runtime.validation.validation import Validator

MODULE = "importable_trap"
TRAP = """
from pathlib import Path
Path(__file__).with_suffix(".sprung").touch()
from penstock.plugins.files.file_source import FileStreamSourceConnector
class Trap(FileStreamSourceConnector):
    connect_class = ""
"""
CONFIG = {"name": "n", "connector.class": "FileStreamSource", "topic": "t", "file": "/f"}
NAMES = [f"{MODULE}.Trap", f"{MODULE}:Trap", MODULE, "os.system", "../importable_trap"]


@pytest.fixture
def trap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module that could be imported, and tells when it was."""
    (tmp_path / f"{MODULE}.py").write_text(TRAP)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path / f"{MODULE}.sprung"


@pytest.mark.parametrize("name", NAMES)
def test_a_connector_that_is_an_import_path(trap: Path, name: str) -> None:
    with pytest.raises(BadRequest, match="Failed to find any class that implements Connector"):
        Validator(Plugins(), "g").validate({**CONFIG, "connector.class": name})
    assert not trap.exists()
    assert MODULE not in sys.modules


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("key", ["key.converter", "value.converter", "transforms.a.type"])
def test_a_converter_or_transform_that_is_an_import_path(trap: Path, key: str, name: str) -> None:
    validated = Validator(Plugins(), "g").validate({**CONFIG, "transforms": "a", key: name})
    told = [value.errors for value in validated.values if value.name == key]
    assert told == [
        [f"Invalid value {name} for configuration {key}: Class {name} could not be found."]
    ]
    assert not trap.exists()
    assert MODULE not in sys.modules


def test_the_trap_would_spring(trap: Path) -> None:
    __import__(MODULE)
    sys.modules.pop(MODULE)
    assert trap.exists()
