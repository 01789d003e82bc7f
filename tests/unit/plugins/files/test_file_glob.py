"""Which files a pattern names."""

from __future__ import annotations

import errno
import glob
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.plugins.files.file_glob import FileGlob


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    paths = ("a.log", "b.log", "b.txt", ".c.log", "x/d.log", "x/y/e.log", "x/.z/f.log", "y/a.log")
    for name in paths:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.touch()
    return tmp_path


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("*.log", ["a.log", "b.log"]),
        ("?.*", ["a.log", "b.log", "b.txt"]),
        ("[!a].log", ["b.log"]),
        (".*", [".c.log"]),
        ("a.log", ["a.log"]),
        ("missing.log", []),
        ("missing/*.log", []),
        ("a.log/*", []),
        ("*/*.log", ["x/d.log", "y/a.log"]),
        ("*/a.log", ["y/a.log"]),
        ("**/*.log", ["a.log", "b.log", "x/d.log", "x/y/e.log", "y/a.log"]),
        ("x/**/e.log", ["x/y/e.log"]),
        ("x/**", ["x/d.log", "x/y/e.log"]),
        ("**/y/**/*.log", ["x/y/e.log", "y/a.log"]),
        ("**/.z/*", ["x/.z/f.log"]),
        ("x/", ["x/d.log"]),
    ],
)
def test_patterns(tree: Path, pattern: str, names: list[str]) -> None:
    assert FileGlob(f"{tree}/{pattern}").names() == [f"{tree}/{name}" for name in names]


def test_a_relative_pattern_names_relative_paths(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tree)
    assert FileGlob("*.txt").names() == ["b.txt"]
    assert FileGlob("./x/*").names() == ["./x/d.log"]


def test_special_characters_can_be_meant(tmp_path: Path) -> None:
    for name in ("a*.log", "ab.log", "[1].log"):
        (tmp_path / name).touch()
    assert FileGlob(f"{tmp_path}/a[*].log").names() == [f"{tmp_path}/a*.log"]
    assert FileGlob(f"{tmp_path}/[[]1].log").names() == [f"{tmp_path}/[1].log"]


def test_only_regular_files_and_links_to_them(tmp_path: Path) -> None:
    (tmp_path / "folder.log").mkdir()
    os.mkfifo(tmp_path / "pipe.log")
    (tmp_path / "file.log").touch()
    (tmp_path / "link.log").symlink_to("file.log")
    (tmp_path / "dangling.log").symlink_to("nothing")
    (tmp_path / "circle.log").symlink_to("circle.log")
    (tmp_path / os.fsdecode(b"no-utf8-\xff.log")).touch()
    found = FileGlob(f"{tmp_path}/*.log").names()
    assert found == [f"{tmp_path}/file.log", f"{tmp_path}/link.log"]


def test_links_to_folders_lead_in_no_circle(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "a.log").touch()
    (tmp_path / "x" / "up").symlink_to("..")
    assert FileGlob(f"{tmp_path}/**/*.log").names() == [f"{tmp_path}/x/a.log"]


def test_a_folder_that_may_not_be_listed(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error where the search begins, else passed over."""
    scandir = os.scandir

    def refuse(path: str) -> Any:
        if Path(path) == tree / "x":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert FileGlob(f"{tree}/*/*.log").names() == [f"{tree}/y/a.log"]
    with pytest.raises(PermissionError):
        FileGlob(f"{tree}/x/*.log").names()


NAMES = st.sampled_from(["a", "b", "ab", ".h", "b.a"])
PATHS = st.sets(st.lists(NAMES, min_size=1, max_size=3).map("/".join), max_size=8)
PARTS = st.sampled_from(["*", "**", "a", "a*", "[ab]", "?", "*b", ".h", ".*", "*.a"])


@settings(max_examples=100)
@given(PATHS, st.lists(PARTS, min_size=1, max_size=4).map("/".join))
def test_the_same_as_pythons_own(paths: set[str], pattern: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(paths, key=len, reverse=True):
            file = Path(folder) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            if not file.exists():
                file.touch()
        expected = glob.glob(f"{folder}/{pattern}", recursive=True)  # noqa: PTH207 (hides dots)
        files = sorted({p for p in expected if Path(p).is_file() and not p.endswith("/")})
        assert FileGlob(f"{folder}/{pattern}").names() == files
