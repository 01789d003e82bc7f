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
        raise ValueError(f"expected a JSON object, found {type(value).__name__}")
    return value
