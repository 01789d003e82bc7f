"""The trace of a task that crashed or hung without an error, once it is known to be the cause."""

from __future__ import annotations

from penstock.engine.driver.turns import Turn, TurnBroken


def verdict(turn: Turn, broken: TurnBroken) -> str:
    """The trace of a task that ran alone in ``turn``, which broke."""
    if broken.kind == "expired":
        where = turn.watch.stuck(turn.leases[0].lease_id)
        return (
            f"FatalError: the task did not return within {turn.watch.age:.0f} s and was "
            f"cancelled. It hangs here:\n{where}"
        )
    return (
        "FatalError: the task's process ended abruptly (os._exit, a signal or out of memory): "
        f"{broken.detail}"
    )
