"""Restarts what has failed, less and less often: a worker option, off by default.

As in Strimzi: after n restarts the next one comes n²+n minutes after the last, at most an hour
after, and once a connector has not been FAILED for longer than that, the count is reset. The first
restart comes immediately. Each worker restarts its own connectors. The count is in its memory: a
worker that is assigned a connector, or starts, restarts it anyway.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any

from penstock.kafka.errors import KafkaFault
from penstock.logs.subject import about
from penstock.runtime.config.auto_restart_keys import ENABLED, MOST
from penstock.runtime.errors import RequestError
from penstock.runtime.meters.metrics import AutoRestarts, Clock
from penstock.runtime.running.connector_control import RESTART
from penstock.runtime.running.context import Context
from penstock.runtime.running.restarts import RestartPlan
from penstock.runtime.states import State, Status, Target

log = logging.getLogger(__name__)

CHECK_SECONDS = 5.0
LONGEST_MINUTES = 60


def pause_seconds(restarts: int) -> float:
    """How long after the last of this many restarts the next one may come."""
    return min(restarts * restarts + restarts, LONGEST_MINUTES) * 60.0


class AutoRestarter:
    """A thread that checks the connectors of this worker."""

    def __init__(
        self,
        context: Context,
        do_here: Callable[[str, str, Any], None],
        clock: Clock = time.monotonic,
    ) -> None:
        """``do_here`` applies a verb of ``connector_control`` to a connector of this worker."""
        self._context = context
        self._do_here = do_here
        self._clock = clock
        self._most: int | None = context.worker[MOST]
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="auto-restart", daemon=True)

    def start(self) -> None:
        """Start the thread, if the worker's configuration enables it."""
        if self._context.worker[ENABLED]:
            self._thread.start()

    def stop(self) -> None:
        """Stop the thread."""
        self._stopping.set()

    def _run(self) -> None:
        while not self._stopping.wait(CHECK_SECONDS):
            self.check()

    def check(self) -> None:
        """Check every connector once; restart those that are due."""
        for name in self._context.configs.names():
            with about(name):
                try:
                    self._check(name)
                except (KafkaFault, RequestError) as error:
                    log.warning("the automatic restart failed: %s", error)
                except Exception:
                    log.exception("the automatic restart failed")

    def _check(self, name: str) -> None:
        meter = self._context.metrics.of(name)
        before, now = meter.auto_restarts, self._clock()
        waited = now - before.last
        if not self._failed(name):
            if before.count and waited > pause_seconds(before.count):
                meter.auto_restarts = AutoRestarts()
        elif self._due(before, waited):
            meter.auto_restarts = AutoRestarts(before.count + 1, now, int(time.time() * 1000))
            log.info("automatic restart number %d of what has failed", before.count + 1)
            plan = RestartPlan.of(self._context.statuses, name, True, True)
            self._do_here(name, RESTART, plan.to_json())

    def _due(self, before: AutoRestarts, waited: float) -> bool:
        if self._most is not None and before.count >= self._most:
            return False
        return not before.count or waited >= pause_seconds(before.count)

    def _failed(self, name: str) -> bool:
        """Whether the connector or a task that should run on this worker has failed."""
        statuses = self._context.statuses
        connector = statuses.connector(name)
        if connector is None or connector.worker_id != self._context.worker_id:
            return False
        if self._target(name) is not Target.STARTED:
            return False
        tasks = (statuses.task(name, task) for task in statuses.task_ids(name))
        return any(map(_has_failed, (connector, *tasks)))

    def _target(self, name: str) -> Target | None:
        try:
            return self._context.configs.target(name)
        except KeyError:  # deleted in between
            return None


def _has_failed(status: Status | None) -> bool:
    return status is not None and status.state is State.FAILED
