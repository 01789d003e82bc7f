"""Plans of the connectors that run as Spark queries. An extension of Kafka Connect's API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.runtime.errors import NotFound
from penstock.runtime.running.context import Context
from penstock.runtime.running.frame_runner import FrameRunner
from penstock.runtime.running.frame_source_runner import FrameSourceRunner
from penstock.runtime.running.runner import Runner


class PlanView:
    """Read-only answers, from memory. Thread-safe."""

    def __init__(self, context: Context, runner: Callable[[str], Runner | None]) -> None:
        self._context = context
        self._runner = runner

    def plan(self, name: str) -> dict[str, Any]:
        """The plan of one connector; NotFound says why there is none."""
        if self._context.configs.config(name) is None:
            raise NotFound(f"Connector {name} not found")
        runner = self._runner(name)
        if runner is None:
            raise NotFound(f"{name} does not run on this worker.{self._elsewhere(name)}")
        if not isinstance(runner, FrameRunner | FrameSourceRunner):
            raise NotFound(
                f"{name} has no plan of Spark's: its tasks read and write records themselves. "
                "Frame connectors and persistent queries have one."
            )
        if not runner.plan:
            raise NotFound(f"{name} has no plan yet: Spark makes it when the first records come.")
        return {"name": name, "plan": runner.plan}

    def _elsewhere(self, name: str) -> str:
        status = self._context.statuses.connector(name)
        if status is None or status.worker_id in ("", self._context.worker_id):
            return " Resume it first."
        return f" Ask {status.worker_id}, which runs it."
