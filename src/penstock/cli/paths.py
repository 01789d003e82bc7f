"""Where the commands keep things on this machine."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_config_path, user_data_path, user_state_path

NAME = "penstock"


def default_data_dir() -> Path:
    """PENSTOCK_DATA_DIR, else the place for data in the user's home."""
    place = user_data_path(NAME, appauthor=False)
    return _chosen("PENSTOCK_DATA_DIR") or _absolute(place, ".local/share")


def config_dir() -> Path:
    """PENSTOCK_CONFIG_DIR, else the place for configuration in the user's home."""
    place = user_config_path(NAME, appauthor=False)
    return _chosen("PENSTOCK_CONFIG_DIR") or _absolute(place, ".config")


def state_dir() -> Path:
    """PENSTOCK_STATE_DIR, else the place for state in the user's home."""
    place = user_state_path(NAME, appauthor=False)
    return _chosen("PENSTOCK_STATE_DIR") or _absolute(place, ".local/state")


def _chosen(variable: str) -> Path | None:
    value = os.environ.get(variable)
    return Path(value).expanduser().absolute() if value else None


def _absolute(place: Path, in_home: str) -> Path:
    # The XDG specification: a relative path in its variables counts as none.
    return place if place.is_absolute() else Path.home() / in_home / NAME
