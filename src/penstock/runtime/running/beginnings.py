"""Waits for a moment until a new connector has its tasks."""

from __future__ import annotations

import time

from penstock.runtime.states import State, Target
from penstock.runtime.stores.config_store import ConfigStore
from penstock.runtime.stores.status_store import StatusStore

PATIENCE_SECONDS = 1.0
"""A connector that asks no other system starts in a tenth of this; slower ones are not awaited."""
GLANCE_SECONDS = 0.005


def await_tasks(configs: ConfigStore, statuses: StatusStore, name: str) -> None:
    """Return once the tasks of ``name`` have a status, or clearly will not soon.

    Clients look at a connector's tasks right after they have created it.
    """
    if configs.target(name) is not Target.STARTED:
        return
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline and not _begun(configs, statuses, name):
        time.sleep(GLANCE_SECONDS)


def _begun(configs: ConfigStore, statuses: StatusStore, name: str) -> bool:
    status = statuses.connector(name)
    if status is not None and status.state is State.FAILED:
        return True
    tasks = len(configs.tasks(name))
    return tasks > 0 and len(statuses.task_ids(name)) >= tasks
