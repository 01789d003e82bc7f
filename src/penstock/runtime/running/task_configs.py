"""The tasks that a connector asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.runtime.plugins import Plugin, own_keys
from penstock.sdk.errors import FatalError


def task_configs(
    name: str, connector: Any, plugin: Plugin, config: Mapping[str, str]
) -> list[dict[str, str]]:
    """The configs of its tasks, as Kafka Connect stores them; FatalError if these are too many."""
    maximum = int(config.get("tasks.max", "1"))
    tasks = connector.task_configs(maximum)
    if len(tasks) > maximum and config.get("tasks.max.enforce", "true") != "false":
        raise FatalError(
            f"The connector {name} has generated {len(tasks)} tasks, which is greater "
            f"than {maximum}, the maximum number of tasks it is configured to create."
        )
    task_class = connector.task_class
    python = f"{task_class.__module__}.{task_class.__qualname__}"
    reference = task_class.connect_class or python
    return [{**own_keys(plugin, task), "task.class": reference} for task in tasks]
