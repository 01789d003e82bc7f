"""File connectors keep to the folders that the worker allows, links and tricks notwithstanding."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from penstock.plugins.files.file_jail import ROOTS, Jail
from penstock.plugins.files.file_sink_task import FileStreamSinkTask
from penstock.plugins.files.file_source_task import FileStreamSourceTask
from penstock.runtime.config.worker_config import WorkerConfig
from penstock.runtime.plugins import Plugins
from penstock.runtime.validation.validation import Validator
from penstock.sdk.errors import ConfigError, RetriableError, UserError
from penstock.sdk.offsets import OffsetReader

NO_FOLDER = "is not in a folder that file connectors of this worker may use"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "allowed"
    made.mkdir()
    return made


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    file = tmp_path / "secret.txt"
    file.write_text("secret\n")
    return file


def errors(root: Path, config: dict[str, str]) -> dict[str, str]:
    """What validation says, by key."""
    plugins = Plugins({ROOTS: f"{root}, /no/such/folder"})
    validated = Validator(plugins, "g").validate({"name": "n", **config})
    return {value.name: value.errors[0] for value in validated.values if value.errors}


def source(**config: str) -> dict[str, str]:
    return {"connector.class": "FileStreamSource", "topic": "t", **config}


def sink(**config: str) -> dict[str, str]:
    return {"connector.class": "FileStreamSink", "topics": "t", **config}


def poll(root: Path, **config: str) -> Any:
    task = FileStreamSourceTask()
    try:
        task.start({"topic": "t", ROOTS: str(root), **config}, OffsetReader([]))
        return task.poll()
    finally:
        task.stop()


def test_what_is_inside_is_fine(root: Path) -> None:
    (root / "in.txt").write_text("a\n")
    (root / "link.txt").symlink_to(root / "in.txt")
    for name in ("in.txt", "link.txt", "not-yet.txt", "folder/../in.txt"):
        assert errors(root, source(file=f"{root}/{name}")) == {}
        assert errors(root, sink(file=f"{root}/{name}")) == {}
    assert errors(root, source(**{"file.glob": f"{root}/**/*.txt"})) == {}
    assert poll(root, file=f"{root}/link.txt") is not None


def test_what_is_outside_is_refused_at_validation(root: Path, outside: Path) -> None:
    (root / "link.txt").symlink_to(outside)
    (root / "dangling.txt").symlink_to(outside.parent / "new.txt")
    (root / "folder").symlink_to(outside.parent)
    near = root.parent / "allowed-not"
    for path in (
        outside,
        root / "../secret.txt",
        root / "link.txt",
        root / "dangling.txt",
        root / "folder/secret.txt",
        near / "x",
        Path("relative.txt"),
    ):
        for config in (source(file=str(path)), sink(file=str(path))):
            told = errors(root, config)
            assert list(told) == ["file"], path
            assert NO_FOLDER in told["file"]
            assert ROOTS in told["file"]
    for pattern in (f"{root.parent}/*.txt", f"{root}/folder/*", "*.txt", f"{root}/../*"):
        assert NO_FOLDER in errors(root, source(**{"file.glob": pattern}))["file.glob"]


def test_a_config_cannot_widen_it(root: Path, outside: Path) -> None:
    for config in (source(file=str(outside)), sink(file=str(outside))):
        assert NO_FOLDER in errors(root, {**config, ROOTS: "/"})["file"]


def test_without_it_every_path_is_fine(outside: Path) -> None:
    config = {"name": "n", **source(file=str(outside)), ROOTS: "/nowhere"}
    assert Validator(Plugins(), "g").validate(config).errors == []


def test_tasks_refuse_it_too(root: Path, outside: Path) -> None:
    """A link may have been changed since the config was checked."""
    link = root / "link.txt"
    link.symlink_to(outside)
    with pytest.raises(ConfigError, match=NO_FOLDER):
        poll(root, file=str(link))
    with pytest.raises(UserError, match=NO_FOLDER):
        poll(root, **{"file.glob": f"{root}/*.txt"})
    with pytest.raises(UserError, match=NO_FOLDER):
        FileStreamSinkTask().start({"file": str(link), ROOTS: str(root)})
    assert outside.read_text() == "secret\n"


def test_a_sink_makes_no_file_outside(root: Path, outside: Path) -> None:
    target = outside.parent / "new.txt"
    link = root / "dangling.txt"
    link.symlink_to(target)
    with pytest.raises(UserError, match=NO_FOLDER):
        FileStreamSinkTask().start({"file": str(link), ROOTS: str(root)})
    assert not target.exists()


@pytest.fixture
def swapped(root: Path, outside: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A link that leads inside whenever it is looked at, and outside when it is opened."""
    link, inside = root / "link.txt", root / "in.txt"
    inside.touch()
    link.symlink_to(inside)
    real_open = os.open

    def swapping(path: Any, *args: Any, **options: Any) -> int:
        return real_open(outside if str(path) == str(link) else path, *args, **options)

    monkeypatch.setattr(os, "open", swapping)
    return link


def test_a_link_that_changes_while_a_source_opens_it(root: Path, swapped: Path) -> None:
    """What counts is the file that is open, not where the name led before or leads after."""
    with pytest.raises(RetriableError, match="was replaced while it was opened"):
        poll(root, file=str(swapped))


def test_a_link_that_changes_while_a_sink_opens_it(root: Path, swapped: Path) -> None:
    with pytest.raises(RetriableError, match="was replaced while it was opened"):
        FileStreamSinkTask().start({"file": str(swapped), ROOTS: str(root)})


def test_the_whole_file_system_is_a_root_too(outside: Path) -> None:
    Jail(["/"]).check(str(outside))


@pytest.mark.parametrize("roots", ["", "relative", "/a,b"])
def test_roots_that_are_none(tmp_path: Path, roots: str) -> None:
    with pytest.raises(ConfigError, match=ROOTS):
        WorkerConfig.from_properties({ROOTS: roots}, tmp_path)
