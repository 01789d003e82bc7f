"""What this worker does with its own connectors: start, end, restart.

The connector's lock is held throughout. Nothing here writes to the config topic: the leader does,
and sends the verbs of ``VERBS``. Such a request may be lost, so ``settle`` is also called whenever
a topic has something new about a connector.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import Any, Final

from penstock.runtime.config.sql_transforms import sql_aliases
from penstock.runtime.errors import Conflict, NotFound, RequestError
from penstock.runtime.running.context import Context
from penstock.runtime.running.frame_runner import FrameRunner
from penstock.runtime.running.frame_source_runner import FrameSourceRunner
from penstock.runtime.running.restarts import RestartPlan
from penstock.runtime.running.runner import Runner
from penstock.runtime.running.runners import Runners
from penstock.runtime.running.sink_runner import SinkRunner
from penstock.runtime.running.source_runner import SourceRunner
from penstock.runtime.running.sql_runners import SqlSinkRunner, SqlSourceRunner
from penstock.runtime.states import State, Status, Target
from penstock.runtime.stores.roster import Roster
from penstock.runtime.validation.validation import Validator
from penstock.sdk.connectors import Connector, SinkConnector
from penstock.sdk.frame_sources import FrameSourceConnector
from penstock.sdk.frames import FrameConnector

log = logging.getLogger(__name__)

HOLD_SECONDS = 30.0
"""How long a connector that the leader ended does not start again by itself."""
END, SETTLE, RESUME, RESTART = "end", "settle", "resume", "restart"


class ConnectorControl:
    """Starts, ends and replaces runners, and updates the statuses."""

    def __init__(self, context: Context, runners: Runners, roster: Roster) -> None:
        self._context = context
        self._runners = runners
        self._roster = roster
        self._validator = Validator(context.plugins, context.worker.group_id, context.worker.rules)
        self._held: dict[str, float] = {}
        self._left_failed: set[str] = set()

    def do(self, verb: str, name: str, body: Any = None) -> None:
        """Carry out a request of the leader."""
        if verb == END:
            self.end(name)
        elif verb == SETTLE:
            self._held.pop(name, None)
            self.settle(name)
        elif verb == RESUME:
            self.resume(name)
        elif verb == RESTART:
            self.restart(name, RestartPlan.from_json(body))
        else:
            raise NotFound(f"Unknown verb '{verb}'.")

    def owns(self, name: str) -> bool:
        """Whether the connector is assigned to this worker."""
        return self._roster.owner(name) == self._context.worker_id

    def settle(self, name: str) -> None:
        """Apply here what the stores say about a connector."""
        config = self._context.configs.config(name)
        if config is None or not self.owns(name):
            self._end(name)
            self._left_failed.discard(name)
            return
        target = self._context.configs.target(name)
        if target is not Target.STARTED:
            self._end(name)
            self._show_resting(name, target)
        else:
            self._settle_started(name, config)

    def _settle_started(self, name: str, config: Mapping[str, str]) -> None:
        runner = self._runners.runner(name)
        if runner is not None and runner.stored != config:
            self._end(name)
            self._begin(name)
        elif runner is None and not self._waits(name):
            self._begin(name)

    def _waits(self, name: str) -> bool:
        return name in self._left_failed or self._held.get(name, 0.0) > time.monotonic()

    def end(self, name: str) -> None:
        """Stop running it, until the leader says what to do next."""
        self._held[name] = time.monotonic() + HOLD_SECONDS
        self._end(name)

    def resume(self, name: str) -> None:
        """Start it, if it does not run already. FAILED parts stay FAILED.

        Not if it was reassigned: its new worker learns from the topics what to do.
        """
        self._held.pop(name, None)
        if self._runners.runner(name) is not None or not self.owns(name):
            return
        if self._state(name) is State.FAILED:
            self._left_failed.add(name)
        else:
            self._begin(name, failed=self._failed(name))

    def restart(self, name: str, plan: RestartPlan) -> None:
        """Restart what the plan names; the target state does not change.

        Conflict if it was reassigned: what was started here would never be ended.
        """
        if not self.owns(name):
            raise Conflict(f"Connector {name} has left worker {self._context.worker_id}.")
        target = self._context.configs.target(name)
        if plan.empty or target is Target.STOPPED:
            return
        self._show_restarting(name, plan)
        if target is Target.PAUSED:
            self._show_resting(name, target)
            return
        self._context.metrics.of(name).restarts += 1
        failed = {t: trace for t, trace in self._failed(name).items() if t not in plan.tasks}
        self._end(name)
        self._begin(name, failed=failed)

    def _begin(self, name: str, failed: Mapping[int, str] | None = None) -> None:
        self._held.pop(name, None)
        self._left_failed.discard(name)
        config = self._context.configs.config(name)
        if config is None:
            return
        try:
            plugin = self._context.plugins.connector(config.get("connector.class", ""))
        except RequestError as error:
            self._left_failed.add(name)
            self._show(name, State.FAILED, str(error))
            return
        sql = bool(sql_aliases(self._context.plugins, config))
        kind = _runner_class(plugin.cls, sql=sql)
        definition = self._validator.definition(plugin, config)
        runner: Runner = kind(self._context, name, config, plugin, definition, failed=failed)
        if self._context.statuses.connector(name) is None:
            self._show(name, State.UNASSIGNED)
        if self._runners.put(name, runner):
            self._context.scheduler.wake(runner)

    def _end(self, name: str) -> None:
        runner = self._runners.take(name)
        if runner is not None:
            runner.halt()

    # States.

    def _state(self, name: str) -> State | None:
        status = self._context.statuses.connector(name)
        return status.state if status else None

    def _failed(self, name: str) -> dict[int, str]:
        statuses = self._context.statuses
        found = {task: statuses.task(name, task) for task in statuses.task_ids(name)}
        return {t: s.trace or "" for t, s in found.items() if s and s.state is State.FAILED}

    def _status(self, state: State, trace: str | None = None) -> Status:
        context = self._context
        return Status(state, context.worker_id, context.generation(), trace)

    def _show(self, name: str, state: State, trace: str | None = None) -> None:
        log.info("the connector is %s%s", state, f": {trace}" if trace else "")
        self._context.statuses.put_connector(name, self._status(state, trace))

    def _show_resting(self, name: str, target: Target) -> None:
        statuses = self._context.statuses
        if target is Target.STOPPED:
            if self._state(name) is not State.STOPPED:
                self._show(name, State.STOPPED)
            for task in statuses.task_ids(name):
                statuses.put_task(name, task, None)
            return
        if self._state(name) not in (State.FAILED, State.PAUSED):
            self._show(name, State.PAUSED)
        failed = self._failed(name)
        for task in range(len(self._context.configs.tasks(name))):
            if task not in failed:
                statuses.put_task(name, task, self._status(State.PAUSED))

    def _show_restarting(self, name: str, plan: RestartPlan) -> None:
        if plan.connector:
            self._show(name, State.RESTARTING)
        for task in plan.tasks:
            self._context.statuses.put_task(name, task, self._status(State.RESTARTING))


def _runner_class(connector: type[Connector], *, sql: bool) -> type[Runner]:
    """``sql``: whether a transform is Spark's to carry out."""
    if sql and not issubclass(connector, FrameConnector):
        return SqlSinkRunner if issubclass(connector, SinkConnector) else SqlSourceRunner
    if issubclass(connector, FrameConnector):
        return FrameRunner
    if issubclass(connector, FrameSourceConnector):
        return FrameSourceRunner
    return SinkRunner if issubclass(connector, SinkConnector) else SourceRunner


VERBS: Final = frozenset({END, SETTLE, RESUME, RESTART})
