"""A worker's runners, seen from inside."""

from __future__ import annotations

from penstock.runtime.worker import Worker


def resting(worker: Worker, name: str) -> bool:
    """Whether the connector runs here, no lease of it runs now and none is to be reported."""
    runner = worker.herder._cluster.runners.runner(name)
    return runner is not None and runner._leases.idle and not runner._activity.locked()


def finish(worker: Worker, name: str) -> None:
    """Ask the connector's leases to end: by themselves they would only do so after 10 dry s."""
    runner = worker.herder._cluster.runners.runner(name)
    if runner is not None:
        runner._leases.finish()
