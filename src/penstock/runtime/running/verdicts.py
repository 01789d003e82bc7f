"""The trace of a task that crashed or hung without an error, once it is known to be the cause."""

from __future__ import annotations

from penstock.runtime.running.task_leases import Ended


def verdict(ended: Ended) -> str:
    """The trace of a task whose lease was lost, and which is the cause."""
    if ended.hung is not None:
        return (
            f"FatalError: the task did not return within {ended.age:.0f} s and was "
            f"cancelled. It hangs here:\n{ended.hung}"
        )
    return (
        "FatalError: the task's process ended abruptly (os._exit, a signal or out of memory): "
        f"{ended.detail}"
    )
