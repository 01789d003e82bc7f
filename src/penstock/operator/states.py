"""Which request brings a connector from the state it is in to the one it should be in."""

from __future__ import annotations

from typing import Any

WANTED = {"running": "RUNNING", "paused": "PAUSED", "stopped": "STOPPED"}
_MOVES = {
    ("RUNNING", "PAUSED"): "pause",
    ("RUNNING", "STOPPED"): "stop",
    ("PAUSED", "RUNNING"): "resume",
    ("PAUSED", "STOPPED"): "stop",
    ("STOPPED", "RUNNING"): "resume",
    ("STOPPED", "PAUSED"): "pause",
    ("FAILED", "STOPPED"): "stop",
}


def wanted_state(spec: dict[str, Any]) -> str:
    """The state that the spec asks for, as a worker calls it; ``pause`` is v1beta2's old way."""
    if spec.get("state"):
        return WANTED[spec["state"]]
    return "PAUSED" if spec.get("pause") is True else "RUNNING"


def move(state: str, wanted: str) -> str | None:
    """``pause``, ``resume``, ``stop``, or None: nothing to do, or nothing that can be done now."""
    return _MOVES.get((state, wanted))


def state_of(status: dict[str, Any]) -> str:
    """The connector's state; UNASSIGNED while it has none."""
    return str(status.get("connector", {}).get("state", "UNASSIGNED"))


def failed_parts(status: dict[str, Any]) -> tuple[bool, list[int]]:
    """Whether the connector has FAILED, and which tasks have."""
    tasks = [task["id"] for task in status.get("tasks", ()) if task["state"] == "FAILED"]
    return state_of(status) == "FAILED", tasks
