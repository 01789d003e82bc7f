"""Edits of a copy of the source, for checks that a check can fail."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

ROOT = Path(__file__).resolve().parent.parent


class Edit(Protocol):
    """A text that stands once in a file of ``src/penstock``, and what takes its place."""

    @property
    def file(self) -> str: ...
    @property
    def before(self) -> str: ...
    @property
    def after(self) -> str: ...


@contextmanager
def edited_source(edit: Edit | None) -> Iterator[Path]:
    """A copy of ``src`` with the edit made, to be put first on PYTHONPATH; gone with the block."""
    with tempfile.TemporaryDirectory(prefix="penstock-edited-") as folder:
        copy = Path(folder) / "src"
        unwanted = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(ROOT / "src", copy, ignore=unwanted)
        if edit is not None:
            take_out(edit, copy / "penstock" / edit.file)
        yield copy


def take_out(edit: Edit, file: Path) -> None:
    """Make the edit in a copy; one that no longer fits its file is an error, not a pass."""
    text = file.read_text()
    if text.count(edit.before) != 1:
        raise SystemExit(
            f"{edit.file} no longer holds {edit.before!r}, once: bring {edit} up to date"
        )
    file.write_text(text.replace(edit.before, edit.after))
