"""What child processes import from."""

from __future__ import annotations

import os
from pathlib import Path


def with_path(folder: Path) -> str:
    """PYTHONPATH with ``folder`` before what it already names."""
    return os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
