"""When the files behind a config's references count as changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from penstock.config.providers import AllowedPaths, FileProvider
from penstock.config.references import Providers
from penstock.runtime.running import reloading
from penstock.runtime.running.reloading import ReloadWatch


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reloading, "PAUSE_SECONDS", 0.0)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "s.properties"
    file.write_text("a=1\n")
    os.utime(file, ns=(1, 1))
    return file


def watch(file: Path, **keys: str) -> ReloadWatch:
    providers = Providers({"file": FileProvider(AllowedPaths((str(file.parent),)))})
    config = {key.replace("_", "."): value for key, value in keys.items()}
    return ReloadWatch(providers, {"k": f"x${{file:{file}:a}}", **config})


def test_a_file_that_is_written_replaced_or_removed_has_changed(file: Path) -> None:
    seen = watch(file)
    assert seen.active
    assert not seen.changed()
    os.utime(file, ns=(2, 2))
    assert seen.changed()
    assert seen.changed()
    seen.begin()
    assert not seen.changed()
    file.unlink()
    assert seen.changed()


def test_none_watches_nothing(file: Path) -> None:
    seen = watch(file, config_action_reload="none")
    os.utime(file, ns=(2, 2))
    assert (seen.active, seen.changed()) == (False, False)


def test_without_references_there_is_nothing_to_watch(file: Path) -> None:
    assert not ReloadWatch(Providers(), {"k": "v"}).active


def test_it_looks_at_most_once_a_second(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reloading, "PAUSE_SECONDS", 60.0)
    seen = watch(file)
    file.unlink()
    assert not seen.changed()
