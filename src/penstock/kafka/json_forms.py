"""JSON as Kafka Connect's internal converter writes it: compact, UTF-8, order kept."""

from __future__ import annotations

import json
from typing import Any


def dump(value: Any) -> bytes:
    """Compact UTF-8 JSON."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def load_object(data: bytes) -> dict[str, Any]:
    """A JSON object; ValueError for anything else."""
    value = json.loads(data)
    if not isinstance(value, dict):
        found = type(value).__name__
        raise ValueError(f"expected a JSON object, found {found}")  # noqa: TRY004 (bad data)
    return value
