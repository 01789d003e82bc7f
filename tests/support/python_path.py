"""What child processes import from."""

from __future__ import annotations

import os
from pathlib import Path

PLUGINS = Path(__file__).parent.parent / "plugins"
"""Connectors that only tests have."""


def with_path(folder: Path) -> str:
    """PYTHONPATH with ``folder`` before what it already names."""
    return os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))


def without_path(folder: Path) -> str:
    """PYTHONPATH without ``folder``, which a worker of this run may have put there."""
    named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return os.pathsep.join(each for each in named if each and each != str(folder))
