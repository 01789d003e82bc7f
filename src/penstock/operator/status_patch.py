"""The smallest merge patch from one status to another, so that nothing new means no request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]


def merge_patch(old: Mapping[str, Any], new: Mapping[str, Any]) -> Json:
    """What to send; empty if both are the same. Lists are replaced, and missing keys deleted."""
    patch: Json = {key: None for key in old if key not in new}
    for key, value in new.items():
        before = old.get(key)
        if isinstance(value, dict) and isinstance(before, dict):
            if inner := merge_patch(before, value):
                patch[key] = inner
        elif value != before or key not in old:
            patch[key] = value
    return patch
