"""Pythons in which some packages are not installed, as far as they can tell."""

from __future__ import annotations

from pathlib import Path

from python_path import with_path


def blocking(folder: Path, *modules: str) -> str:
    """A PYTHONPATH with which these modules cannot be imported."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(
        "import sys\n"
        "class Blocker:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name.partition('.')[0] in {modules!r}:\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Blocker())\n"
    )
    return with_path(folder)
