"""What an upper layer and the base layer tell each other, in a small file."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from penstock.client.errors import ConnectError

VARIABLE = "PENSTOCK_LAYER_STATE"
DEFAULT = Path(".penstock-layer.json")


def state_file() -> Path:
    """PENSTOCK_LAYER_STATE, else ``.penstock-layer.json`` in the working folder."""
    return Path(os.environ.get(VARIABLE) or DEFAULT)


def read_state() -> dict[str, Any]:
    """All of it; empty if nothing was ever told. ConnectError if the file is damaged."""
    try:
        content = json.loads(state_file().read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConnectError(
            f"{state_file()} cannot be read: {error}. Repair or delete it."
        ) from error
    return dict(content)


def update_state(**changes: Any) -> None:
    """Set some keys, None removes one. Whole or not at all; readable to its owner only."""
    state: Mapping[str, Any] = {**read_state(), **changes}
    kept = {key: value for key, value in state.items() if value is not None}
    file = state_file()
    descriptor, part = tempfile.mkstemp(dir=file.absolute().parent, prefix=f"{file.name}.")
    with os.fdopen(descriptor, "w", encoding="utf-8") as output:
        json.dump(kept, output, indent=2, sort_keys=True)
    Path(part).replace(file)
