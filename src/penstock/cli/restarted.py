"""What a restart has begun, and what it has left as it was."""

from __future__ import annotations

from typing import Any

from penstock.cli.output import count_of


def what_restarts(name: str, planned: dict[str, Any]) -> str:
    """Of a status in which the parts that restart are RESTARTING."""
    tasks = sum(task["state"] == "RESTARTING" for task in planned["tasks"])
    connector = planned["connector"]["state"] == "RESTARTING"
    if connector and tasks:
        return f"Connector {name} and {count_of(tasks, 'task')} are restarting."
    if connector:
        return f"Connector {name} is restarting."
    if tasks:
        return f"{count_of(tasks, 'task')} of connector {name} {_be(tasks)} restarting."
    return f"Nothing of connector {name} has FAILED: nothing is restarted."


def still_failed(tasks: int) -> str:
    """A restart of the connector alone does not touch its tasks, as in Kafka Connect."""
    return f" {count_of(tasks, 'task')} {_be(tasks)} still FAILED: add --include-tasks."


def _be(count: int) -> str:
    return "is" if count == 1 else "are"
