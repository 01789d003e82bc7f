"""The command as its user has to type it."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path


def as_typed() -> str:
    """`penstock` where the shell finds this very program, else the path to it."""
    program = Path(sys.argv[0])
    if program.name == "__main__.py":
        return f"{_short(Path(sys.executable))} -m penstock"
    found = shutil.which(program.name)
    if found is not None and program.exists() and Path(found).samefile(program):
        return program.name
    return _short(program.absolute())


def _short(path: Path) -> str:
    """Relative to the working folder if it is inside of it."""
    here = Path.cwd()
    shown = os.path.relpath(path, here) if path.is_relative_to(here) else str(path)
    return shlex.quote(shown)
