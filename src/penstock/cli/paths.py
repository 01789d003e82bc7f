"""Where the commands keep things on this machine."""

from __future__ import annotations

import os
from pathlib import Path


def default_data_dir() -> Path:
    """PENSTOCK_DATA_DIR, else the place for data in the user's home."""
    return _place("PENSTOCK_DATA_DIR", "XDG_DATA_HOME", ".local/share")


def state_dir() -> Path:
    """PENSTOCK_STATE_DIR, else the place for state in the user's home."""
    return _place("PENSTOCK_STATE_DIR", "XDG_STATE_HOME", ".local/state")


def _place(own: str, shared: str, in_home: str) -> Path:
    if os.environ.get(own):
        return Path(os.environ[own]).expanduser().absolute()
    # The XDG specification: a relative path in these variables counts as none.
    base = Path(os.environ.get(shared, ""))
    return (base if base.is_absolute() else Path.home() / in_home) / "penstock"
