"""The annotation ``strimzi.io/pause-reconciliation``: leave a resource alone, and say so."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from penstock.operator.conditions import condition, timed
from penstock.operator.names import PAUSE

Json = dict[str, Any]


def is_paused(resource: Json) -> bool:
    """Whether nothing may be done about it."""
    return (resource["metadata"].get("annotations") or {}).get(PAUSE) == "true"


def paused_status(resource: Json, now: datetime) -> Json:
    """Its status, with the one condition that holds while it is paused."""
    before = resource.get("status") or {}
    told = condition("ReconciliationPaused", "Annotated", f"{PAUSE} is true.")
    return {**before, "conditions": timed([told], before.get("conditions") or (), now)}
